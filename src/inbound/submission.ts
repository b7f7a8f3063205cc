/**
 * Submission (RFC 6409, RFC 8314): programs submit mail over SMTP, with STARTTLS or implicit TLS, the user
 * `pillarbox` and a secret key as the password. A message is handled as a send request: each RCPT is one
 * recipient, and the 250 means that the emails to all of them are durable.
 *
 * A login is accepted only over TLS or on the loopback interface, and mail only after a login.
 */
import type {
  SMTPServerAddress,
  SMTPServerDataStream,
  SMTPServerOptions,
  SMTPServerSession,
} from 'smtp-server'
import { withLogFields } from '../base/log.ts'
import type { ListenAddress } from '../config/config.ts'
import { isLoopbackHost } from '../config/values/listen-address.ts'
import type { Core } from '../core/core.ts'
import type { RateLimiter } from '../features/ground/requests/rate-limit.ts'
import { canAcceptMail } from '../features/incoming/receiving/accept/accept-message.ts'
import { unverifiedSender } from '../features/mail/domains/unverified-sender.ts'
import { acceptMessage } from '../features/mail/messages/accept/accept-message.ts'
import type { SendRequest } from '../features/mail/messages/accept/plan.ts'
import { callerName } from '../features/tenancy/accounts/callers/caller.ts'
import type { Project } from '../features/tenancy/accounts/rows.ts'
import { type ParsedAddress, parseAddress } from '../formats/address/address.ts'
import type { SubmittedMessage } from '../formats/submitted/read-submitted.ts'
import { runFor } from '../turns/owner.ts'
import { GuardedServer } from './guarded-server.ts'
import {
  checkLogin,
  confirmUser,
  createFailedLogins,
  type LoginContext,
  limitHandshakes,
  type SubmissionUser,
} from './login.ts'
import { createAllowance, createMessageBuffer, type MessageAllowance } from './message-buffer.ts'
import { cannotStore, refusal, type SmtpRefusal, toRefusal } from './refusal.ts'
import { type MailService, type ServerParts, startMailService } from './service.ts'
import type { SessionLimits } from './sessions.ts'
import {
  createSubmissionReader,
  type SubmissionReader,
  type SubmissionReaderOptions,
} from './submission-reader.ts'

type SubmissionDeps = Pick<
  Core,
  | 'certificates'
  | 'config'
  | 'keyring'
  | 'reportUsage'
  | 'disk'
  | 'store'
  | 'directory'
  | 'reservedKeys'
  | 'acceptQueue'
  | 'queueNotifier'
  | 'counters'
  | 'now'
  | 'log'
>

type SubmissionContext = SubmissionDeps &
  LoginContext & {
    limiter: RateLimiter
    reader: SubmissionReader
    allowance: MessageAllowance
  }

type Handlers = Pick<
  SMTPServerOptions,
  'onConnect' | 'onSecure' | 'onAuth' | 'onMailFrom' | 'onRcptTo' | 'onData'
>

export type SubmissionOptions = {
  /** The limiter of requests, shared with the HTTP API, since a message counts as a request. */
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

/** Parameters of MAIL and RCPT. Those of RFC 3461 are accepted, but no such report is ever sent. */
const MAIL_PARAMETERS = /^(?:SIZE|BODY|SMTPUTF8|AUTH|RET|ENVID)$/
const RCPT_PARAMETERS = /^(?:NOTIFY|ORCPT)$/
/** The most ids shown in a reply, whose line has at most 512 octets. */
const MAX_NAMED = 10
/** Commands of smtp-server that are disabled here: proxy headers and joke commands. */
const UNSUPPORTED_COMMANDS = ['XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL', 'HELP']

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

/** `disabledCommands`: disabled in all sessions of the server that begin now. */
function submissionHandlers(
  context: SubmissionContext,
  disabledCommands: () => readonly string[],
): Handlers {
  const failures = new WeakMap<SMTPServerSession, number>()
  const fail = (error: unknown) => toRefusal(context.log, error)
  return {
    onConnect: (session, done) => {
      const mayLogIn = session.secure || context.isLocal(session.remoteAddress)
      session.disabledCommands = [...disabledCommands(), ...(mayLogIn ? [] : ['AUTH'])]
      done()
    },
    onSecure: (_socket, session, done) => {
      session.disabledCommands = [...disabledCommands()]
      done()
    },
    onAuth: (auth, session, done) => {
      within(session, () =>
        checkLogin(context, failures, { auth, session }).then(
          (user) => done(null, { user }),
          (error: unknown) => done(fail(error)),
        ),
      )
    },
    onMailFrom: (sender, session, done) => {
      if (!areOffered(sender.args, MAIL_PARAMETERS)) return done(notOffered())
      within(session, () =>
        checkSender(context, session, sender).then(
          () => done(),
          (error: unknown) => done(fail(error)),
        ),
      )
    },
    onRcptTo: ({ address, args }, _session, done) => {
      if (!areOffered(args, RCPT_PARAMETERS)) return done(notOffered())
      if (readAddress(address) !== undefined) return done()
      done(refusal('553 5.1.3', 'Not an email address that can be sent to'))
    },
    onData: (stream, session, done) => {
      within(session, () =>
        receive(context, stream, session).then(
          (ids) => done(null, `2.0.0 Ok: queued as ${nameIds(ids)}`),
          (error: unknown) => done(fail(error)),
        ),
      )
    },
  }
}

/** Lines of the log that `act` writes have the id of the session. */
function within<T>({ id: sessionId }: SMTPServerSession, act: () => T): T {
  return withLogFields({ sessionId }, act)
}

/** A parameter that the server does not support must be refused (RFC 5321 section 4.1.1.11). */
function areOffered(args: SMTPServerAddress['args'], offered: RegExp): boolean {
  return Object.keys(args || {}).every((name) => offered.test(name))
}

function notOffered(): SmtpRefusal {
  return refusal('555 5.5.4', 'A parameter that is not supported here')
}

/** Refuses an address with U+FFFD: it stands for octets that were not UTF-8, so the client meant another address. */
function readAddress(text: string): ParsedAddress | undefined {
  return text.includes('\ufffd') ? undefined : parseAddress(text)
}

/** @throws SmtpRefusal, AppError */
async function checkSender(
  context: SubmissionContext,
  session: SMTPServerSession,
  { address }: SMTPServerAddress,
): Promise<void> {
  const project = await confirmUser(context, session)
  if (!canAcceptMail(context)) throw cannotStore()
  const verdict = context.limiter.take(callerName({ kind: 'key', key: 'secret', project }))
  if (verdict !== undefined && !verdict.isAllowed) {
    const seconds = Math.max(1, verdict.retryAfterSeconds)
    const text = `More than ${verdict.limit} requests in a minute, try again in ${seconds} s`
    throw refusal('451 4.7.1', text)
  }
  if (address === '') throw refusal('550 5.7.1', 'A sender address is required here')
  const sender = readAddress(address)
  if (sender === undefined) throw refusal('553 5.1.7', 'Not an email address')
  if ((await context.directory.findSenderDomain(project.id, sender.domain)) !== undefined) return
  const { domain } = sender
  const key = { projectId: project.id, domain, shown: domain }
  throw await unverifiedSender(context.store.read, key)
}

/** Returns the ids of the durable emails. @throws SmtpRefusal, AppError, Error if the client leaves */
async function receive(
  context: SubmissionContext,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<string[]> {
  const maxBytes = context.config.limits.messageMaxBytes
  const buffer = createMessageBuffer({
    ...{ maxBytes, allowance: context.allowance },
    mendsLineEnds: true,
  })
  const recipients = session.envelope.rcptTo.map(({ address }) => address)
  try {
    for await (const chunk of stream) buffer.write(chunk as Buffer)
    const from = performance.now()
    const { project: sender } = session.user as SubmissionUser
    const owner = { key: sender.id, isJob: false }
    const submitted = await runFor(owner, () => context.reader.read(buffer.finish()))
    const project = await confirmUser(context, session)
    const request = toRequest(submitted, recipients, project)
    const emails = await acceptMessage(context, { project, request })
    const tookMs = performance.now() - from
    context.counters.observe('pillarbox_accept_duration_seconds', tookMs, 'submission')
    const ids = emails.map(({ id }) => id)
    context.log.debug({ projectId: project.id, emailIds: ids }, 'emails were accepted')
    return ids
  } finally {
    buffer.release()
  }
}

function toRequest(
  submitted: SubmittedMessage,
  recipients: readonly string[],
  { submissionTemplates }: Pick<Project, 'submissionTemplates'>,
): SendRequest {
  const { from, names, reply, subject, body, isText, text, headers, attachments } = submitted
  const to = new Map<string, ParsedAddress>()
  for (const recipient of recipients) {
    const address = parseAddress(recipient)
    if (address !== undefined) to.set(address.address, address)
  }
  return {
    to: [...to].map(([key, address]) => ({ address, name: names.get(key) ?? null })),
    from,
    reply,
    subject,
    body,
    isText,
    text,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    attachments,
    isLiteral: !(submitted.isTemplate ?? submissionTemplates),
    recipientFields: submitted.recipientFields,
    isSealed: submitted.seal !== null,
    warnings: submitted.warnings,
  }
}

function nameIds(ids: readonly string[]): string {
  const named = ids.slice(0, MAX_NAMED).join(' ')
  return ids.length > MAX_NAMED ? `${named} and ${ids.length - MAX_NAMED} more` : named
}
