/** Runs `pillarbox COMMAND`: prints its result, or its error, and returns the exit status. */
import { COMMANDS, GROUPS } from './commands.ts'
import type { Result } from './engine/command.ts'
import { EXIT_STATUS, writeFailure } from './engine/failure.ts'
import { runProgram } from './engine/program.ts'
import { processTerminal, type Terminal } from './engine/terminal.ts'

/** Returns the exit status: 0 done, 1 failed, 2 wrong usage or configuration. Leaves nothing open. */
export async function runCli(
  argv: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const isJson = argv.includes('--json')
  try {
    const table = { groups: GROUPS, commands: COMMANDS }
    const result = await runProgram(table, terminal, argv)
    print(terminal, result, isJson)
    const isFailed = result !== null && 'isFailed' in result && result.isFailed === true
    return isFailed ? EXIT_STATUS.failed : EXIT_STATUS.done
  } catch (error) {
    return writeFailure(terminal, error, isJson)
  }
}

function print({ stdout }: Terminal, result: Result, isJson: boolean): void {
  if (result === null) return
  if ('raw' in result) stdout.write(result.raw)
  else if (isJson) stdout.write(`${JSON.stringify(result.json)}\n`)
  else if (result.text !== '') stdout.write(`${result.text}\n`)
}
