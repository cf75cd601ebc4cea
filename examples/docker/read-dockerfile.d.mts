export interface Instruction {
  readonly stage: number;
  readonly name: string;
  readonly rest: string;
}

export function readDockerfile(text: string): Instruction[];
export function execForm(rest: string): unknown;
export function lastOf(instructions: readonly Instruction[], name: string): string | undefined;
