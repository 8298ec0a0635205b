//! Expressions: lexer, parser, graph, derivatives, tape.
