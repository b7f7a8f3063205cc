/**
 * Checks the login of a program for submission: user `pillarbox`, a secret key as the password. Failed logins
 * and unfinished TLS handshakes are limited by network. `work/limiter.ts` does not fit the logins: it refuses
 * attempts before they are made, and a successful login is never refused here.
 */

import type { Server, Socket } from 'node:net'
import type { SMTPServerAuthentication, SMTPServerSession } from 'smtp-server'
import { MINUTE_MS, type Now } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { createLru } from '../base/lru.ts'
import type { Core } from '../core/core.ts'
import { projectDisabled } from '../features/ground/directory.ts'
import { authenticateKey } from '../features/tenancy/accounts/callers/authenticate.ts'
import type { Project } from '../features/tenancy/accounts/rows.ts'
import { createKeyPlaces } from '../turns/key-places.ts'
import { refusal, type SmtpRefusal } from './refusal.ts'
import { peerOf } from './sessions.ts'

export type LoginContext = Pick<Core, 'directory' | 'config' | 'log'> & {
  failedLogins: FailedLogins
  /** Whether the connection from this address cannot be intercepted. */
  isLocal(address: string): boolean
  /** Waits before the reply to a failed login. */
  wait(ms: number): Promise<void>
}

type Login = { auth: SMTPServerAuthentication; session: SMTPServerSession }

/** The user of a session; smtp-server keeps it. */
export type SubmissionUser = { key: string; project: Project }

type LoginResult = { user: SubmissionUser } | { refused: SmtpRefusal; isGuess: boolean }

const SUBMISSION_USER = 'pillarbox'

type FailedLogins = {
  isOverLimit(address: string): boolean
  /** Counts a failure. Returns how many milliseconds to wait before the reply. */
  failed(address: string): number
  succeeded(address: string): void
  /** How many networks have failures. */
  size(): number
}

type Failures = { count: number; lastAt: number }

const MAX_NETWORKS = 10_000
const MAX_FAILURES = 10
/** Failed logins that end a session. */
const MAX_FAILURES_OF_SESSION = 3
const MEMORY_MS = 15 * MINUTE_MS
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 8_000

/** `failures`: how many logins failed in each session. @throws SmtpRefusal */
export async function checkLogin(
  context: LoginContext,
  failures: WeakMap<SMTPServerSession, number>,
  { auth, session }: Login,
): Promise<SubmissionUser> {
  const { remoteAddress } = session
  if (!session.secure && !context.isLocal(remoteAddress)) throw needsTls()
  const result = await logInSubmitter(context, auth)
  if ('user' in result) {
    context.failedLogins.succeeded(remoteAddress)
    return result.user
  }
  if (!result.isGuess) throw result.refused
  const count = (failures.get(session) ?? 0) + 1
  failures.set(session, count)
  context.log.info({ sessionId: session.id, peer: remoteAddress }, 'a login for submission failed')
  await context.wait(context.failedLogins.failed(remoteAddress))
  const isLast = count >= MAX_FAILURES_OF_SESSION
  if (isLast || context.failedLogins.isOverLimit(remoteAddress))
    throw refusal('421 4.7.0', 'Too many failed logins')
  throw result.refused
}

/** Returns the user, or the refusal (reply codes: RFC 4954 section 6, RFC 5248). */
async function logInSubmitter(
  deps: LoginContext,
  { username, password }: SMTPServerAuthentication,
): Promise<LoginResult> {
  if (username?.trim().toLowerCase() !== SUBMISSION_USER)
    return wrong(`The user name is ${SUBMISSION_USER}.`)
  try {
    const key = password?.trim() ?? ''
    const project = await findProject(deps, key)
    // The login succeeds also during a reset: a program that is refused then might take the key to be
    // wrong.
    if (!project.isDisabled || project.resetSince !== null) return { user: { key, project } }
    return { refused: refusal('535 5.7.13', projectDisabled().message), isGuess: false }
  } catch (error) {
    if (error instanceof AppError && error.status < 500) {
      return wrong(`${error.message} The password is a secret key (sk_...).`)
    }
    deps.log.error({ error }, 'a login for submission could not be checked')
    return { refused: refusal('454 4.7.0', 'Try again later.'), isGuess: false }
  }
}

/**
 * Returns the project of the session as it is now: its key may be renewed, or the project disabled, during
 * a session. @throws SmtpRefusal without a login and during a reset; AppError INVALID_API_KEY,
 * PROJECT_DISABLED, DATABASE_ERROR
 */
export async function confirmUser(
  context: LoginContext,
  session: SMTPServerSession,
): Promise<Project> {
  const user = session.user as SubmissionUser | false | undefined
  // After STARTTLS smtp-server sets the user to false.
  if (!user) {
    const isSafe = session.secure || context.isLocal(session.remoteAddress)
    throw isSafe ? refusal('530 5.7.0', 'Log in first') : needsTls()
  }
  const project = await findProject(context, user.key)
  if (project.resetSince !== null) throw underReset()
  if (project.isDisabled) throw projectDisabled()
  return project
}

async function findProject(
  deps: Pick<Core, 'directory' | 'config'>,
  key: string,
): Promise<Project> {
  const { project } = await authenticateKey(deps, key, ['secret'])
  return project
}

function needsTls(): SmtpRefusal {
  return refusal('530 5.7.0', 'Issue a STARTTLS command first')
}

function underReset(): SmtpRefusal {
  return refusal('451 4.7.0', 'The project is being reset, try again later')
}

function wrong(text: string): LoginResult {
  return { refused: refusal('535 5.7.8', text), isGuess: true }
}

/**
 * Counts failed logins by network. The reply to each failure is delayed more than the one before.
 * After a number of failures the network is over its limit for a while: its session ends with
 * the next failure. A successful login clears the count and is never refused, since one address may
 * serve many programs, and one with an outdated key must not lock out the others. The number of
 * networks is bounded: the oldest are forgotten first.
 */
export function createFailedLogins(now: Now): FailedLogins {
  const networks = createLru<Failures>(MAX_NETWORKS)

  function find(network: string): Failures | undefined {
    const failures = networks.get(network)
    if (failures === undefined) return undefined
    // A clock that was set back must not extend the limit.
    if (Math.abs(now() - failures.lastAt) < MEMORY_MS) return failures
    networks.delete(network)
    return undefined
  }

  return {
    isOverLimit: (address) => (find(peerOf(address))?.count ?? 0) >= MAX_FAILURES,
    failed: (address) => {
      const network = peerOf(address)
      const count = (find(network)?.count ?? 0) + 1
      networks.set(network, { count, lastAt: now() })
      return Math.min(FIRST_DELAY_MS * 2 ** (count - 1), MAX_DELAY_MS)
    },
    succeeded: (address) => {
      networks.delete(peerOf(address))
    },
    size: () => networks.size,
  }
}

/**
 * Closes connections to a listener with implicit TLS beyond the limit of one address or IPv6 network, without a
 * reply. During the handshake there is no session yet that `sessions.ts` could count.
 */
export function limitHandshakes(listener: Server, connectionsPerAddress: number): void {
  const places = createKeyPlaces({ perKey: connectionsPerAddress })
  const [accept] = listener.listeners('connection')
  listener.removeAllListeners('connection')
  listener.on('connection', (socket: Socket) => {
    const peer = peerOf(socket.remoteAddress ?? '')
    if (places.isKeyFull(peer)) {
      socket.destroy()
      return
    }
    socket.once('close', places.take(peer))
    accept?.call(listener, socket)
  })
}
