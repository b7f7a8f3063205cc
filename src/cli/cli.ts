/** `pillarbox COMMAND`: runs it, prints what it gives back, says what went wrong. */
import type { Result } from './command.ts'
import { exitStatus, reportFailure } from './failure.ts'
import { runProgram } from './program.ts'
import { processTerminal, type Terminal } from './terminal.ts'

/** The exit status: 0 done, 1 failed, 2 wrong usage or configuration. Leaves nothing open. */
export async function runCli(
  argv: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const isJson = argv.includes('--json')
  try {
    print(terminal, await runProgram(terminal, argv), isJson)
    return exitStatus.done
  } catch (error) {
    return reportFailure(terminal, error, isJson)
  }
}

function print({ stdout }: Terminal, result: Result, isJson: boolean): void {
  if (result === null) return
  if ('raw' in result) stdout.write(result.raw)
  else if (isJson) stdout.write(`${JSON.stringify(result.json)}\n`)
  else if (result.text !== '') stdout.write(`${result.text}\n`)
}
