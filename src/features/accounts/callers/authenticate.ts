/**
 * Finds the caller of a request by its API key. The secret key is looked up by its digest in a
 * unique index, so the time of a look-up does not show how much of a guess is right.
 */
import { AppError } from '../../../errors.ts'
import type { Base } from '../../base.ts'
import { PUBLIC_KEY_PATTERN, SECRET_KEY_PATTERN } from '../projects/keys.ts'
import type { KeyCaller } from './caller.ts'

type AuthDeps = Pick<Base, 'directory' | 'config'>
/** The kinds of keys that are admitted. */
type KeyKinds = readonly KeyCaller['key'][]

/**
 * `authorization` is the value of the Authorization header field. A disabled project is not refused
 * here: its keys may still read.
 * @throws AppError MISSING_AUTH, INVALID_API_KEY
 */
export async function authenticate(
  deps: AuthDeps,
  authorization: string | undefined,
  kinds: KeyKinds,
): Promise<KeyCaller> {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (key === undefined) throw missingAuth()
  return authenticateKey(deps, key, kinds)
}

/** Like `authenticate`, for a bare key. @throws AppError INVALID_API_KEY */
export async function authenticateKey(
  { directory, config }: AuthDeps,
  key: string,
  kinds: KeyKinds,
): Promise<KeyCaller> {
  const caller = await findCaller(directory, key, kinds)
  if (caller === undefined) throw new AppError('INVALID_API_KEY', 'This API key is not valid here.')
  if (caller.project.areKeysSandbox && config.delivery.mode !== 'sandbox') throw sandboxKey()
  return caller
}

export function missingAuth(): AppError {
  return new AppError('MISSING_AUTH', 'This endpoint needs an API key.')
}

async function findCaller(
  directory: AuthDeps['directory'],
  key: string,
  kinds: KeyKinds,
): Promise<KeyCaller | undefined> {
  if (SECRET_KEY_PATTERN.test(key)) {
    if (!kinds.includes('secret')) return undefined
    const project = await directory.findProjectBySecret(key)
    return project && { kind: 'key', key: 'secret', project }
  }
  if (!kinds.includes('public') || !PUBLIC_KEY_PATTERN.test(key)) return undefined
  const project = await directory.findProjectByPublicKey(key)
  return project && { kind: 'key', key: 'public', project }
}

function sandboxKey(): AppError {
  return new AppError('INVALID_API_KEY', 'This key belongs to a sandbox and works only there.', {
    suggestion: 'Ask the operator of this server to regenerate the keys of the project.',
  })
}
