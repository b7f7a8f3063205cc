/** Runs `pillarbox COMMAND`: prints its result, or its error, and returns the exit status. */
import { hasCode } from '../base/errors.ts'
import { COMMANDS, GROUPS } from './commands.ts'
import type { Result } from './engine/command.ts'
import { typedLike } from './engine/command-line.ts'
import { EXIT_STATUS, writeFailure } from './engine/failure.ts'
import { runProgram } from './engine/program.ts'
import { processTerminal, type Terminal, writeOut } from './engine/terminal.ts'

/** Returns the exit status: 0 done, 1 failed, 2 wrong usage or configuration. Leaves nothing open. */
export async function runCli(
  argv: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const isJson = argv.includes('--json')
  try {
    const table = { groups: GROUPS, commands: COMMANDS }
    const result = await runProgram(table, terminal, argv)
    await print(terminal, outputOf(result, isJson))
    const isFailed = result !== null && 'isFailed' in result && result.isFailed === true
    return isFailed ? EXIT_STATUS.failed : EXIT_STATUS.done
  } catch (error) {
    const names = COMMANDS.map(({ name }) => name)
    return writeFailure(terminal, error, { isJson, typed: typedLike(argv, names) })
  }
}

/** A reader such as `head` may close the pipe early. */
async function print(terminal: Terminal, output: string | Uint8Array): Promise<void> {
  if (output.length === 0) return
  try {
    await writeOut(terminal, output)
  } catch (error) {
    if (!hasCode(error, 'EPIPE')) throw error
  }
}

function outputOf(result: Result, isJson: boolean): string | Uint8Array {
  if (result === null) return ''
  if ('raw' in result) return result.raw
  if (isJson) return `${JSON.stringify(result.json)}\n`
  return result.text === '' ? '' : `${result.text}\n`
}
