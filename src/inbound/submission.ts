/**
 * Submission (RFC 6409, RFC 8314): programs submit mail over SMTP, with STARTTLS or implicit TLS, the user
 * `pillarbox` and a secret key as the password. A message is handled as a send request: each RCPT is one
 * recipient, and the 250 means that the emails to all of them are durable.
 *
 * A login is accepted only over TLS or on the loopback interface, and mail only after a login.
 */
import type { ListenAddress } from '../config/config.ts'
import { isLoopbackHost } from '../config/values/listen-address.ts'
import type { Core } from '../core/core.ts'
import type { RateLimiter } from '../features/ground/requests/rate-limit.ts'
import { GuardedServer } from './guarded-server.ts'
import { createFailedLogins, limitHandshakes } from './login.ts'
import { createAllowance } from './message-buffer.ts'
import { type MailService, type ServerParts, startMailService } from './service.ts'
import type { SessionLimits } from './sessions.ts'
import { createSubmissionReader, type SubmissionReaderOptions } from './submission-reader.ts'
import {
  type SubmissionContext,
  type SubmissionCore,
  submissionHandlers,
} from './submission-session.ts'

type SubmissionDeps = SubmissionCore & Pick<Core, 'certificates'>

export type SubmissionOptions = {
  /** Shared with the HTTP API, since a message counts as a request. */
  limiter: RateLimiter
  limits?: Partial<SessionLimits>
  reader?: Partial<SubmissionReaderOptions>
  /** Whether the connection from this address cannot be intercepted. Default: loopback addresses. */
  isLocal?: (address: string) => boolean
  /** Waits before the reply to a failed login. */
  wait?: SubmissionContext['wait']
}

/** The memory of all messages being received: enough for some of the largest, at least. */
const MEMORY_BYTES = 128 * 1024 * 1024
const LARGEST_AT_A_TIME = 4

/** Listens on `submission.listen`. @throws Error if an address or the certificate cannot be used */
export async function startSubmission(
  deps: SubmissionDeps,
  { limiter, limits, reader, isLocal, wait }: SubmissionOptions,
): Promise<MailService> {
  const { certificates, config, log, counters, now } = deps
  const { listen } = config.submission
  const { messageMaxBytes } = config.limits
  const submissionReader = createSubmissionReader({
    ...{ limits: config.limits, log, counters },
    ...reader,
  })
  const context: SubmissionContext = {
    ...deps,
    limiter,
    reader: submissionReader,
    failedLogins: createFailedLogins(now),
    allowance: createAllowance(Math.max(MEMORY_BYTES, LARGEST_AT_A_TIME * messageMaxBytes)),
    isLocal: isLocal ?? isLoopbackHost,
    wait: wait ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms).unref())),
  }
  // On loopback, passwords need no TLS.
  const needsCertificate = ({ host, isTls }: ListenAddress) =>
    config.submission.tls !== null && (isTls || !isLoopbackHost(host))
  const { addresses, stop } = await startMailService(
    { name: 'submission', log, counters, listen, certificates, limits, needsCertificate },
    (parts) => createServer(context, parts),
  )
  return {
    addresses,
    stop: async (graceMs) => {
      await stop(graceMs)
      await submissionReader.stop()
    },
  }
}

/** Commands of smtp-server that are disabled here: for proxies, and jokes. */
const UNSUPPORTED_COMMANDS = ['XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL', 'HELP']

function createServer(
  context: SubmissionContext,
  { address, sessions, certificate }: ServerParts,
): GuardedServer {
  const { delivery, limits } = context.config
  const disabledCommands =
    certificate === null ? [...UNSUPPORTED_COMMANDS, 'STARTTLS'] : UNSUPPORTED_COMMANDS
  const server: GuardedServer = new GuardedServer(
    {
      ...certificate,
      name: delivery.hostname,
      secure: address.isTls,
      disabledCommands,
      authMethods: ['PLAIN', 'LOGIN'],
      // Whether a session may log in is decided when it begins.
      allowInsecureAuth: true,
      authRequiredMessage: '5.7.0 Log in first',
      size: limits.messageMaxBytes,
      maxRecipients: Math.min(limits.submissionRecipients, limits.recipientsPerRequest),
      maxClients: sessions.limits.connections,
      ...submissionHandlers(context, () => server.options.disabledCommands),
    },
    sessions,
  )
  if (address.isTls) limitHandshakes(server.server, sessions.limits.connectionsPerAddress)
  return server
}
