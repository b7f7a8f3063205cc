/**
 * Sets the server up: makes its first user, an operator with a proven address, and a project if the user names
 * one, and logs the user in. One transaction does all of it, and only if no user may log in and the token is
 * that of the present link (`link.ts`); so of two requests at the same time one succeeds.
 *
 * A wrong token, an expired one, and a server that is set up get one answer, which tells a stranger nothing.
 */
import { AppError } from '../../../../base/errors.ts'
import type { LoginSession } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { LimitedAttempt } from '../../../../work/limiter.ts'
import type { Base } from '../../../ground/base.ts'
import { issueDevice } from '../login/device.ts'
import type { LoginQueue } from '../login/queue.ts'
import { checkPassword, hashPassword } from '../passwords/passwords.ts'
import { makeKeys } from '../projects/keys.ts'
import { readProjectName } from '../projects/name.ts'
import { insertProject } from '../projects/projects.ts'
import {
  endPresented,
  insertSession,
  readPresented,
  type SessionClient,
  type SessionCookie,
} from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'
import { insertUser } from '../users/users.ts'
import { isSetupOpen } from './is-open.ts'
import { deleteLink, deleteLinkFile, isSetupToken } from './link.ts'

type SetupDeps = Pick<Base, 'store' | 'config' | 'now' | 'log'> & {
  sessionTokens: SessionTokens
  loginQueue: LoginQueue
  /** Begins a try of a network. @throws AppError RATE_LIMIT_EXCEEDED */
  enter(network: string): LimitedAttempt
}

type FirstUser = {
  /** The token of the link. */
  token: string
  /** As `ParsedAddress.address`. */
  address: string
  password: string
  projectName: string | undefined
  /** The language of the user. */
  language: string
  client: SessionClient
  /** The cookie of the browser's present session, which ends. */
  presented: string | undefined
  /** The name of the client's network. */
  network: string
  /** The name of the client's wider network, for the line of logins (`login/queue.ts`). */
  wideNetwork: string
  /** Aborts when the client is gone. */
  signal: AbortSignal
}

type SetUp = {
  user: { id: string; email: string }
  session: LoginSession
  device: SessionCookie
}

/**
 * @throws AppError VALIDATION_ERROR (password, projectName), RATE_LIMIT_EXCEEDED, RESOURCE_NOT_FOUND for any
 *   token that does not set this server up, CONFLICT when the sandbox made a user with this address,
 *   EXTERNAL_SERVICE_ERROR when too many passwords wait
 */
export async function setUp(deps: SetupDeps, given: FirstUser): Promise<SetUp> {
  const { store, now, log } = deps
  const { password, wideNetwork, signal } = given
  checkPassword(password)
  const projectName =
    given.projectName === undefined ? undefined : readProjectName(given.projectName, 'projectName')
  deps.enter(given.network).counted()
  await requireOpen(deps, store.read, given.token).catch(async (refusal) => {
    await deleteDeadFile(deps)
    throw refusal
  })
  const hash = () => hashPassword(password, signal)
  const passwordHash = await deps.loginQueue.run(hash, { wideNetwork, isKnown: false, signal })
  const presented = await readPresented(deps, given.presented)
  const at = now()
  const made = await store.write(async (tx) => {
    await requireOpen(deps, tx, given.token)
    const userId = await insertFirst(tx, { given, passwordHash, at })
    if (projectName !== undefined) {
      const project = { name: projectName, ownerId: userId, keys: makeKeys(), at }
      await insertProject(tx, { ...project, areKeysSandbox: false })
    }
    await deleteLink(tx)
    await endPresented(tx, presented)
    const session = await insertSession(tx, { userId, client: given.client, at })
    return { user: { id: userId, email: given.address }, session }
  })
  log.info('this server was set up: its first user was made')
  await deleteLinkFile(deps)
  return { ...made, device: await issueDevice(deps, { id: made.user.id, passwordHash }) }
}

async function requireOpen(
  deps: SetupDeps,
  queries: Pick<Tx, 'find' | 'select'>,
  token: string,
): Promise<void> {
  // Both are read in any case, so that the time of the answer does not tell which of them is missing.
  const isToken = await isSetupToken(queries, { token, at: deps.now() })
  const isOpen = await isSetupOpen(deps, queries)
  if (isToken && isOpen) return
  throw new AppError('RESOURCE_NOT_FOUND', 'This link does not set up this server.', {
    suggestion:
      'A link works once, for 24 hours, and until the next start. On the server, "pillarbox setup-link" makes a new one while nobody can log in.',
  })
}

/** A command of another user of the system may have ended the set-up without the right to delete the file. */
async function deleteDeadFile(deps: SetupDeps): Promise<void> {
  if (!(await isSetupOpen(deps, deps.store.read))) await deleteLinkFile(deps)
}

async function insertFirst(
  tx: Tx,
  { given, passwordHash, at }: { given: FirstUser; passwordHash: string; at: number },
): Promise<string> {
  const { address, language } = given
  const rights = { isSandbox: false, isOperator: true, isProven: true }
  try {
    return await insertUser(tx, { address, passwordHash, language, ...rights, at })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
    throw new AppError('CONFLICT', 'The sandbox made a user with this email address.', {
      fields: [{ field: 'email', code: 'custom', message: 'Taken by the user of the sandbox' }],
      suggestion:
        'Take another address, or give that user a password: pillarbox user password --email ADDRESS',
    })
  }
}
