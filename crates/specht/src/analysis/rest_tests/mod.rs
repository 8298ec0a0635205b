//! Rest, self-braking and their relatives against closed forms.

mod one_pair;
