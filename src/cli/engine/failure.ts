/** Reports the failure of a command: one text on stderr, and the exit status. */
import { AppError, describeError } from '../../errors.ts'
import { describeDatabaseError } from '../../store/database-error.ts'
import { UsageError } from './command.ts'
import type { Terminal } from './terminal.ts'
import { escapeControls } from './text.ts'

export const EXIT_STATUS = { done: 0, failed: 1, wrongUsage: 2 } as const

type Failure = {
  code: string
  message: string
  /** Further fields of the JSON. */
  details?: Record<string, unknown>
  /** Further lines of the text. */
  lines?: string[]
  status: 1 | 2
}

/** Writes the error as JSON or as text and returns the exit status. */
export function writeFailure(terminal: Terminal, error: unknown, isJson: boolean): number {
  const { code, message, details, lines = [], status } = explain(error)
  if (isJson) {
    terminal.stderr.write(`${JSON.stringify({ error: { code, message, ...details } })}\n`)
    return status
  }
  const [first = '', ...others] = message.split('\n').concat(lines).map(escapeControls)
  terminal.stderr.write([`pillarbox: ${first}`, ...others, ''].join('\n'))
  return status
}

function explain(error: unknown): Failure {
  const databaseFault = describeDatabaseError(error)
  if (databaseFault !== undefined) {
    return { code: 'DATABASE_ERROR', message: databaseFault, status: 1 }
  }
  if (error instanceof AppError) return explainAppError(error)
  if (error instanceof UsageError) {
    const general = 'Run "pillarbox --help", or any command with --help.'
    const lines = error.usage === undefined ? [general] : ['', ...error.usage.split('\n')]
    return { code: error.code, message: error.message, lines, status: 2 }
  }
  if (error instanceof Error && 'problems' in error && 'code' in error) {
    const details = { problems: error.problems }
    return { code: String(error.code), message: error.message, details, status: 2 }
  }
  return explainUnexpected(error)
}

/** Lists the fields of a validation error instead of its suggestion, which is written for the API. */
function explainAppError({ code, message, fields, suggestion }: AppError): Failure {
  if (fields !== undefined) {
    const lines = fields.map((one) => `  ${one.field}: ${one.message}`)
    return { code, message: 'Not valid.', details: { errors: fields }, lines, status: 2 }
  }
  if (suggestion === undefined) return { code, message, status: 1 }
  return { code, message, details: { suggestion }, lines: [suggestion], status: 1 }
}

const SYSTEM_ADVICE: Record<string, string> = {
  EADDRINUSE:
    'Another program listens on this address; stop it, or choose another address or port.',
  EACCES: 'Permission was refused; run the command as the owner of the files.',
}

/** A system error gets advice; any other error is a bug and shows its stack trace. */
function explainUnexpected(error: unknown): Failure {
  const message = describeError(error)
  const base = { code: 'INTERNAL_SERVER_ERROR', message, status: 1 } as const
  if (!(error instanceof Error)) return base
  if (!('syscall' in error)) return { ...base, lines: (error.stack ?? '').split('\n').slice(1) }
  const advice = SYSTEM_ADVICE['code' in error ? String(error.code) : '']
  return advice === undefined ? base : { ...base, lines: [advice] }
}
