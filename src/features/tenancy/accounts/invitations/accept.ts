/**
 * Accepts an invitation: makes the invited person a member. An invitation never logs anybody in to
 * an existing account, so a person with an account must be logged in already. For a person without
 * one, accepting makes the account and begins its session.
 */
import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { invitations } from '../../../../store/schema/accounts.ts'
import type { Role } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { projectDisabled } from '../../../ground/directory.ts'
import { requireUser } from '../callers/admit.ts'
import type { SessionUser } from '../callers/caller.ts'
import { issueDevice } from '../login/device.ts'
import type { LoginQueue } from '../login/queue.ts'
import { insertMember } from '../members/member.ts'
import { checkPassword, hashPassword } from '../passwords/passwords.ts'
import {
  insertSession,
  issueCookie,
  type SessionClient,
  type SessionCookie,
} from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'
import { refuseBeforeSetup } from '../setup/is-open.ts'
import { markProven } from '../users/proof.ts'
import { findUserId, insertUser } from '../users/users.ts'
import { findOpenInvitation, type OpenInvitation } from './open.ts'

type Acceptance = {
  token: string
  /** The user who has logged in, if any. */
  user: Pick<SessionUser, 'id' | 'address'> | undefined
  /** The password of the new account. */
  password: string | undefined
  /** The language of the new account: `xx` or `xx-XX`. */
  language: string
  client: SessionClient
  /** The name of the client's wider network, for the line of logins (`login/queue.ts`). */
  wideNetwork: string
  /** Aborts when the client is gone. */
  signal: AbortSignal
}

type Accepted = {
  userId: string
  address: string
  projectId: string
  role: Role
  /** The cookies of the new session and of its browser, if an account was made. */
  cookies: { session: SessionCookie; device: SessionCookie } | undefined
}

type AcceptDeps = Pick<Base, 'store' | 'config' | 'now'> & {
  sessionTokens: SessionTokens
  loginQueue: LoginQueue
}

/**
 * @throws AppError BAD_REQUEST when the invitation is not open, PROJECT_DISABLED, FORBIDDEN to another
 *   account, UNAUTHORIZED when the address has an account or the user is gone,
 *   EMAIL_VERIFICATION_REQUIRED when the user is bound to another project, VALIDATION_ERROR (password),
 *   CONFLICT when the user is a member already or the server is not set up yet, EXTERNAL_SERVICE_ERROR when too many passwords wait
 */
export async function acceptInvitation(
  deps: AcceptDeps,
  acceptance: Acceptance,
): Promise<Accepted> {
  const { store, now } = deps
  const { token, user } = acceptance
  const invitation = await loadOpenInvitation(store.read, token, now())
  if (user !== undefined) return acceptAs(deps, token, user)
  await refuseKnown(store.read, invitation)
  return acceptAsNewcomer(deps, acceptance)
}

async function acceptAs(
  { store, now }: AcceptDeps,
  token: string,
  user: Pick<SessionUser, 'id' | 'address'>,
): Promise<Accepted> {
  const at = now()
  const { projectId, role } = await store.write(async (tx) => {
    await requireUser(tx, user.id)
    const invitation = await loadOpenInvitation(tx, token, at)
    if (invitation.address !== user.address) throw otherAccount()
    // A link that was mailed proves that the reader gets the mail of the address.
    if (invitation.isMailed) await markProven(tx, user.id, at)
    await take(tx, invitation, { userId: user.id, at })
    return invitation
  })
  return { userId: user.id, address: user.address, projectId, role, cookies: undefined }
}

async function acceptAsNewcomer(
  deps: AcceptDeps,
  { token, password = '', language, client, wideNetwork, signal }: Acceptance,
): Promise<Accepted> {
  checkPassword(password)
  await refuseBeforeSetup(deps, deps.store.read)
  const hash = () => hashPassword(password, signal)
  const passwordHash = await deps.loginQueue.run(hash, { wideNetwork, isKnown: false, signal })
  const at = deps.now()
  const { session, ...accepted } = await deps.store.write(async (tx) => {
    const invitation = await loadOpenInvitation(tx, token, at)
    await refuseKnown(tx, invitation)
    const { address, projectId, role, isMailed } = invitation
    const onlyProjectId = isMailed ? null : projectId
    const proof = { isProven: isMailed, onlyProjectId }
    const user = { address, passwordHash, isSandbox: false, language, at }
    const userId = await insertUser(tx, { ...user, ...proof })
    await take(tx, invitation, { userId, at })
    const session = await insertSession(tx, { userId, client, at })
    return { userId, address, projectId, role, session }
  })
  const cookies = {
    session: await issueCookie(deps, session),
    device: await issueDevice(deps, { id: accepted.userId, passwordHash }),
  }
  return { ...accepted, cookies }
}

async function loadOpenInvitation(
  queries: Pick<Tx, 'select'>,
  token: string,
  at: number,
): Promise<OpenInvitation> {
  const invitation = await findOpenInvitation(queries, token, at)
  if (invitation === undefined) throw notOpen()
  if (invitation.isProjectDisabled) throw projectDisabled()
  return invitation
}

async function take(
  tx: Tx,
  { id, projectId, role }: OpenInvitation,
  { userId, at }: { userId: string; at: number },
): Promise<void> {
  await tx.update(invitations).set({ acceptedAt: at }).where(eq(invitations.id, id))
  await insertMember(tx, { projectId, userId, role, at })
}

/** Refuses an address that already has an account. @throws AppError UNAUTHORIZED */
async function refuseKnown(
  queries: Pick<Tx, 'select'>,
  { address }: OpenInvitation,
): Promise<void> {
  if ((await findUserId(queries, address)) === undefined) return
  throw new AppError('UNAUTHORIZED', 'The invited address has an account: log in first.', {
    suggestion: 'Log in as the invited address, then accept the invitation again.',
  })
}

function notOpen(): AppError {
  return new AppError('BAD_REQUEST', 'This invitation was used or revoked, or it has expired.', {
    suggestion: 'Ask the person who invited you for a new invitation.',
  })
}

function otherAccount(): AppError {
  return new AppError('FORBIDDEN', 'This invitation is for another email address.', {
    suggestion: 'Log in as the invited address, then accept the invitation again.',
  })
}
