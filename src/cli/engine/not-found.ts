/**
 * Advice for an operator who named a project or an email by something else than its id: the command that
 * lists the ids.
 */
import { AppError } from '../../base/errors.ts'
import { formatCommand } from './command-line.ts'

/** Adds a suggestion to the error of a feature, which knows the API only. */
export function adviseNotFound(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'RESOURCE_NOT_FOUND') return error
  const { details, message } = error
  if (error.suggestion !== undefined) return error
  const suggestion = suggest(String(details?.resource), String(details?.id))
  if (suggestion === undefined) return error
  return new AppError(error.code, message, { details: { ...details }, suggestion, cause: error })
}

function suggest(resource: string, id: string): string | undefined {
  if (resource === 'project') {
    return `A project is named by its id: ${formatCommand(['project', 'list'])}`
  }
  if (resource !== 'email') return undefined
  const list = id.includes('@') ? ['queue', 'list', '--to', id] : ['queue', 'list']
  return `An email is named by its id: ${formatCommand(list)}`
}
