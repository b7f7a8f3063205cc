/**
 * Finds the caller of a request by its API key. The secret key is looked up by its digest in a
 * unique index, so the time of a look-up does not show how much of a guess is right.
 */
import { AppError } from '../../errors.ts'
import type { Base } from '../base.ts'
import { admits, type Caller, type KeyCallers } from './caller.ts'
import { PUBLIC_KEY_PATTERN, SECRET_KEY_PATTERN } from './keys.ts'

type AuthDeps = Pick<Base, 'directory' | 'config'>

/**
 * `authorization` is the value of the Authorization header field. A disabled project is not refused
 * here: its keys may still read.
 * @throws AppError MISSING_AUTH, INVALID_API_KEY
 */
export async function authenticate(
  deps: AuthDeps,
  authorization: string | undefined,
  callers: KeyCallers,
): Promise<Caller> {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (key === undefined) throw new AppError('MISSING_AUTH', 'This endpoint needs an API key.')
  return authenticateKey(deps, key, callers)
}

/** Like `authenticate`, for a bare key. @throws AppError INVALID_API_KEY */
export async function authenticateKey(
  { directory, config }: AuthDeps,
  key: string,
  callers: KeyCallers,
): Promise<Caller> {
  const caller = await findCaller(directory, key, callers)
  if (caller === undefined) throw new AppError('INVALID_API_KEY', 'This API key is not valid here.')
  if (caller.project.areKeysSandbox && config.delivery.mode !== 'sandbox') throw sandboxKey()
  return caller
}

async function findCaller(
  directory: AuthDeps['directory'],
  key: string,
  callers: KeyCallers,
): Promise<Caller | undefined> {
  if (SECRET_KEY_PATTERN.test(key)) {
    const project = await directory.findProjectBySecret(key)
    return project && { kind: 'key', key: 'secret', project }
  }
  if (!admits(callers, 'public') || !PUBLIC_KEY_PATTERN.test(key)) return undefined
  const project = await directory.findProjectByPublicKey(key)
  return project && { kind: 'key', key: 'public', project }
}

function sandboxKey(): AppError {
  return new AppError('INVALID_API_KEY', 'This key belongs to a sandbox and works only there.', {
    suggestion: 'Ask the operator of this server to regenerate the keys of the project.',
  })
}
