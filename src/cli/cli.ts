/** Runs `pillarbox COMMAND`: prints its result, or its error, and returns the exit status. */
import { AppError, describeError, hasCode } from '../base/errors.ts'
import { describeUnreadable, isRefused, presentUser, runAs } from '../config/file-access.ts'
import { describeDatabaseError } from '../store/database-error.ts'
import { COMMANDS, GROUPS } from './commands.ts'
import { type Result, UsageError } from './engine/command.ts'
import { formatCommand, typedLike } from './engine/command-line.ts'
import { runProgram } from './engine/program.ts'
import { processTerminal, type Terminal, writeOut } from './engine/terminal.ts'
import { escapeControls } from './engine/text.ts'

const EXIT_STATUS = { done: 0, failed: 1, wrongUsage: 2 } as const

type Failure = {
  code: string
  message: string
  /** Further fields of the error in JSON. */
  details?: Record<string, unknown>
  /** Further lines of the error as text. */
  lines?: string[]
  status: 1 | 2
}

type FailureOptions = {
  isJson: boolean
  typed?: Typed
}

/**
 * Adds `--config` to the commands in a text, as the operator must type them. Not for texts that
 * quote people.
 */
type Typed = (text: string) => string

/**
 * Runs a command. Returns the exit status: 0 done, 1 failed, 2 wrong usage or configuration. Leaves
 * nothing open.
 */
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

/** Writes the error as JSON or as text and returns the exit status. */
export function writeFailure(
  terminal: Terminal,
  error: unknown,
  { isJson, typed = (text) => text }: FailureOptions,
): number {
  const { code, message, details, lines = [], status } = explain(error, typed)
  if (isJson) {
    terminal.stderr.write(`${JSON.stringify({ error: { code, message, ...details } })}\n`)
    return status
  }
  const [first = '', ...others] = message.split('\n').concat(lines).map(escapeControls)
  terminal.stderr.write([`pillarbox: ${first}`, ...others, ''].join('\n'))
  return status
}

/** Prints the output. A reader that closes the pipe early, such as `head`, is no failure. */
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

function explain(error: unknown, typed: Typed): Failure {
  const databaseFault = describeDatabaseError(error)
  if (databaseFault !== undefined) {
    return { code: 'DATABASE_ERROR', message: databaseFault, status: 1 }
  }
  if (error instanceof AppError) return explainAppError(error, typed)
  if (error instanceof UsageError) {
    const general = 'Run "pillarbox --help", or any command with --help.'
    const lines = (error.usage ?? general).split('\n').map(typed)
    return { code: error.code, message: typed(error.message), lines, status: 2 }
  }
  if (error instanceof Error && 'problems' in error && 'code' in error) {
    const details = { problems: error.problems }
    return { code: String(error.code), message: typed(error.message), details, status: 2 }
  }
  return explainUnexpected(error, typed)
}

/**
 * Lists the fields of a validation error. Its suggestion is left out, because it is written for the
 * API.
 */
function explainAppError(error: AppError, typed: Typed): Failure {
  const { code, message, fields, suggestion = adviseOnId(error) } = error
  if (fields !== undefined) {
    const lines = fields.map((one) => `  ${one.field}: ${one.message}`)
    return { code, message: 'Not valid.', details: { errors: fields }, lines, status: 2 }
  }
  if (suggestion === undefined) return { code, message, status: 1 }
  const advice = typed(suggestion)
  return { code, message, details: { suggestion: advice }, lines: [advice], status: 1 }
}

/**
 * Advice for an operator who gave something other than an id for a project or an email: the command
 * that lists ids.
 */
function adviseOnId({ code, details }: AppError): string | undefined {
  if (code !== 'RESOURCE_NOT_FOUND') return undefined
  const id = String(details?.id)
  if (details?.resource === 'project') {
    return `A project is named by its id: ${formatCommand(['project', 'list'])}`
  }
  if (details?.resource !== 'email') return undefined
  const list = id.includes('@') ? ['queue', 'list', '--to', id] : ['queue', 'list']
  return `An email is named by its id: ${formatCommand(list)}`
}

const SYSTEM_ADVICE: Record<string, string> = {
  EADDRINUSE:
    'Another program listens on this address ("ss -ltnp" shows which); stop it, or choose another address or port.',
}

const PORTS = 'Only some users may listen on ports below 1024;'

function adviseAccess(error: Error): string | undefined {
  if ('advice' in error) return String(error.advice)
  if (!isRefused(error)) return undefined
  if ('syscall' in error && error.syscall === 'listen') {
    return `${PORTS} ${presentUser()} may not. The service of "pillarbox systemd --install" may: systemctl start pillarbox`
  }
  if (!('path' in error)) return `Permission was refused to ${presentUser()}.`
  const { obstacle, ownerUid } = describeUnreadable(String(error.path))
  return `Permission was refused to ${presentUser()} at ${obstacle}: ${runAs(ownerUid, obstacle)}.`
}

/**
 * Explains an unexpected error: a system error with advice; any other error is a bug and shows its
 * stack trace.
 */
function explainUnexpected(error: unknown, typed: Typed): Failure {
  const message = describeError(error)
  const base = { code: 'INTERNAL_SERVER_ERROR', message, status: 1 } as const
  if (!(error instanceof Error)) return base
  if (!('syscall' in error)) return { ...base, lines: (error.stack ?? '').split('\n').slice(1) }
  const advice = adviseAccess(error) ?? SYSTEM_ADVICE['code' in error ? String(error.code) : '']
  return advice === undefined ? base : { ...base, lines: [typed(advice)] }
}
