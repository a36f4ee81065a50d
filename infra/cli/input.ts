// How a command is called, and what was typed.

export interface Parameter {
  /** As in a usage line: `WORKSPACE`. */
  readonly name: string;
  readonly isOptional?: boolean;
}

export interface OptionDefinition {
  /** What stands behind it in a usage line, as in `--rpm N`. Absent: a switch. */
  readonly value?: string;
  readonly summary: string;
  readonly isRequired?: boolean;
  /** One letter. */
  readonly short?: string;
}

/** What was typed, checked against the definitions: known options, required ones present, the right number of arguments. */
export interface Input {
  /** By the name of the parameter. */
  parameter(name: string): string;
  optionalParameter(name: string): string | undefined;
  required(option: string): string;
  text(option: string): string | undefined;
  isSet(option: string): boolean;
}
