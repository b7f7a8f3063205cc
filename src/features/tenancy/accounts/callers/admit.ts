/**
 * Decides whether the sender of a request may call its route (`caller.ts`). A request with an
 * Authorization header has its cookie ignored, and routes without sessions never read cookies.
 * Roles and verification are read with each request, so a change of either acts at once.
 */
import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { isUuid } from '../../../../store/ids.ts'
import { users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { noProject, roleTooLow } from '../members/require-admin.ts'
import { needsVerification } from '../platform-mail/sender.ts'
import { findSession } from '../sessions/find.ts'
import type { SessionTokens } from '../sessions/token.ts'
import { authenticate, missingAuth, type readKey } from './authenticate.ts'
import {
  type Caller,
  hasRole,
  type KnownCallers,
  type MemberCaller,
  ruleOf,
  type UserCaller,
} from './caller.ts'

type AdmitDeps = Pick<Base, 'directory' | 'config' | 'store' | 'now'> & {
  sessionTokens: SessionTokens
}

/** What a request carries to identify its sender. */
export type Credentials = {
  /** The value of the Authorization header field. */
  authorization: string | undefined
  /** Reads the key in the value of the Authorization header. */
  readKey: typeof readKey
  /** The value of the session's cookie; not read beside an Authorization header. */
  cookie: string | undefined
  /**
   * The id of the project that a request of a session names, in X-Project-Id, or in `?projectId=`
   * of a GET.
   */
  projectId: string | undefined
  /** The `:id` of the path. */
  pathId: string | undefined
}

/**
 * Returns the caller. Calls `identified` with the caller before the rights of the caller are
 * checked. A disabled project is not refused here.
 * @throws AppError MISSING_AUTH, INVALID_API_KEY, UNAUTHORIZED, EMAIL_VERIFICATION_REQUIRED,
 *   BAD_REQUEST, PROJECT_ACCESS_DENIED, RESOURCE_NOT_FOUND, FORBIDDEN
 */
export async function admitCaller(
  deps: AdmitDeps,
  callers: KnownCallers,
  credentials: Credentials,
  identified: (caller: Caller) => void,
): Promise<Caller> {
  const { keys, session } = ruleOf(callers)
  const { authorization, cookie, pathId } = credentials
  if (session === null || (authorization !== undefined && keys.length > 0)) {
    const caller = await authenticate(deps, credentials.readKey(authorization), keys)
    identified(caller)
    if (session?.project === 'path' && caller.project.id !== pathId) throw noProject(pathId)
    return caller
  }
  if (authorization !== undefined || cookie === undefined) {
    if (session.needsOperator) throw noOperator()
    throw keys.length > 0 ? missingAuth() : noSession()
  }
  const id = session.project === 'path' ? pathId : credentials.projectId
  const projectId = id?.toLowerCase()
  const found = await findSession(deps, cookie, projectId)
  if (found === undefined) throw noSession()
  const user: UserCaller = { kind: 'user', session: found.session, user: found.user }
  identified(user)
  if (!session.mayBeUnverified && (await needsVerification(deps, user.user))) throw unverified()
  if (session.needsOperator && !user.user.isOperator) throw notOperator()
  if (session.project === null) return user
  if (session.project === 'header') requireProjectId(projectId)
  const project = await deps.directory.findProject(projectId ?? '')
  if (project === undefined || found.role === null) {
    throw session.project === 'path' ? noProject(id) : accessDenied()
  }
  if (!hasRole(found.role, session.role ?? 'MEMBER')) throw roleTooLow()
  const member: MemberCaller = { ...user, kind: 'member', role: found.role, project }
  identified(member)
  return member
}

function requireProjectId(id: string | undefined): void {
  if (id !== undefined && isUuid(id)) return
  const fault =
    id === undefined
      ? 'The header X-Project-Id is missing.'
      : 'X-Project-Id, or projectId in the query, is not a UUID.'
  throw new AppError('BAD_REQUEST', fault, {
    suggestion: 'Send the id of a project of yours; GET /users/@me/projects lists them.',
  })
}

export function noSession(): AppError {
  return new AppError('UNAUTHORIZED', 'This endpoint needs a login session.')
}

/**
 * Checks the user of a session in the transaction that writes data of this user. A user who was
 * deleted after the request was admitted has no session any more.
 * @throws AppError UNAUTHORIZED
 */
export async function requireUser(tx: Pick<Tx, 'select'>, userId: string): Promise<void> {
  const user = await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).get()
  if (user === undefined) throw noSession()
}

function unverified(): AppError {
  return new AppError('EMAIL_VERIFICATION_REQUIRED', 'Your email address is not verified yet.', {
    suggestion: 'Open the link in the mail; POST /auth/request-verification sends another one.',
  })
}

function noOperator(): AppError {
  const text = 'This needs an address of http.metrics_allow, or the session of an operator.'
  return new AppError('UNAUTHORIZED', text)
}

function notOperator(): AppError {
  return new AppError('FORBIDDEN', 'Only operators of this server may do this.', {
    suggestion: 'An operator is named with "pillarbox user operator --email E --on".',
  })
}

function accessDenied(): AppError {
  return new AppError('PROJECT_ACCESS_DENIED', 'You are not a member of this project.')
}
