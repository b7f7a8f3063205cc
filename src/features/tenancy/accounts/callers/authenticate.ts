/**
 * Finds the caller of a request by its API key. The secret key is looked up by its digest in a
 * unique index, so the time of a look-up does not show how much of a guess is right.
 */
import { AppError } from '../../../../base/errors.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { digestSecret } from '../../../ground/directory.ts'
import { PUBLIC_KEY_PATTERN, SECRET_KEY_PATTERN } from '../projects/keys.ts'
import type { KeyCaller } from './caller.ts'

type AuthDeps = Pick<Base, 'directory' | 'config'>
/** The kinds of keys that are accepted. */
type KeyKinds = readonly KeyCaller['key'][]

/** A key that a client sent. Of a secret key only the digest is kept. */
export type GivenKey =
  | { kind: 'secret'; digest: string }
  | { kind: 'public'; publicKey: string }
  | { kind: 'unknown' }

/** Reads the key in the value of an Authorization header field; undefined if the value has none. */
export function readKey(authorization: string | undefined): GivenKey | undefined {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  return key === undefined ? undefined : toGivenKey(key)
}

/**
 * Finds the caller by its key. A disabled project is not refused here, because its keys may still
 * read.
 * @throws AppError MISSING_AUTH, INVALID_API_KEY
 */
export async function authenticate(
  { directory, config }: AuthDeps,
  key: GivenKey | undefined,
  kinds: KeyKinds,
): Promise<KeyCaller> {
  if (key === undefined) throw missingAuth()
  if (key.kind === 'unknown' || !kinds.includes(key.kind)) throw invalidKey()
  const project = await findProject(directory, key)
  if (project === undefined) throw invalidKey()
  if (project.areKeysSandbox && config.delivery.mode !== 'sandbox') throw sandboxKey()
  return { kind: 'key', key: key.kind, project }
}

/**
 * Finds the caller like `authenticate`, by the bare text of a key.
 * @throws AppError INVALID_API_KEY
 */
export function authenticateKey(deps: AuthDeps, key: string, kinds: KeyKinds): Promise<KeyCaller> {
  return authenticate(deps, toGivenKey(key), kinds)
}

export function missingAuth(): AppError {
  return new AppError('MISSING_AUTH', 'This endpoint needs an API key.')
}

function toGivenKey(key: string): GivenKey {
  if (SECRET_KEY_PATTERN.test(key)) return { kind: 'secret', digest: digestSecret(key) }
  return PUBLIC_KEY_PATTERN.test(key) ? { kind: 'public', publicKey: key } : { kind: 'unknown' }
}

type KnownKey = Exclude<GivenKey, { kind: 'unknown' }>

function findProject(
  directory: AuthDeps['directory'],
  key: KnownKey,
): Promise<Project | undefined> {
  return key.kind === 'secret'
    ? directory.findProjectByDigest(key.digest)
    : directory.findProjectByPublicKey(key.publicKey)
}

function invalidKey(): AppError {
  return new AppError('INVALID_API_KEY', 'This API key is not valid here.')
}

function sandboxKey(): AppError {
  return new AppError('INVALID_API_KEY', 'This key belongs to a sandbox and works only there.', {
    suggestion: 'Ask the operator of this server to regenerate the keys of the project.',
  })
}
