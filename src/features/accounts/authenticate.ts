/**
 * Whose request this is, by its key. The secret key is found by its digest under a unique index,
 * so that comparing takes the same time however much of a guess is right.
 */
import { AppError } from '../../errors.ts'
import type { Project } from '../../store/schema/accounts.ts'
import type { Base } from '../base.ts'
import { publicKeyPattern, secretKeyPattern } from './keys.ts'

export type Caller = { project: Project; key: 'secret' | 'public' }

export type AuthDeps = Pick<Base, 'directory' | 'config'>

/**
 * `authorization` is the value of that header field; `allowed` says which keys the endpoint takes.
 * A disabled project is not refused here: it may still read.
 * @throws AppError MISSING_AUTH, INVALID_API_KEY
 */
export async function authenticate(
  deps: AuthDeps,
  authorization: string | undefined,
  allowed: 'secret' | 'any',
): Promise<Caller> {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (key === undefined) throw new AppError('MISSING_AUTH', 'This endpoint needs an API key.')
  return authenticateKey(deps, key, allowed)
}

/** As `authenticate`, for a bare key. @throws AppError INVALID_API_KEY */
export async function authenticateKey(
  { directory, config }: AuthDeps,
  key: string,
  allowed: 'secret' | 'any',
): Promise<Caller> {
  const caller = await findCaller(directory, key, allowed)
  if (caller === undefined) throw new AppError('INVALID_API_KEY', 'This API key is not valid here.')
  if (caller.project.areKeysSandbox && config.delivery.mode !== 'sandbox') throw sandboxKey()
  return caller
}

async function findCaller(
  directory: AuthDeps['directory'],
  key: string,
  allowed: 'secret' | 'any',
): Promise<Caller | undefined> {
  if (secretKeyPattern.test(key)) {
    const project = await directory.findProjectBySecret(key)
    return project && { project, key: 'secret' }
  }
  if (allowed === 'secret' || !publicKeyPattern.test(key)) return undefined
  const project = await directory.findProjectByPublicKey(key)
  return project && { project, key: 'public' }
}

function sandboxKey(): AppError {
  return new AppError('INVALID_API_KEY', 'This key was made by the sandbox and works only there.', {
    suggestion: 'Ask the operator of this server to regenerate the keys of the project.',
  })
}
