/**
 * The listener for mail from outside: bounces, complaints, replies. Recipients are accepted or refused at
 * RCPT (`features/incoming/receiving/accept/admit-recipient.ts`), so the server never relays mail and never
 * bounces it to a forged sender. A message gets its 250 when it is durable; it is processed later.
 */
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { withLogFields } from '../base/log.ts'
import type { Core } from '../core/core.ts'
import {
  acceptInboundMessage,
  canAcceptMail,
  type InboundRecipient,
} from '../features/incoming/receiving/accept/accept-message.ts'
import {
  admitRecipient,
  isClosed,
  type RecipientRefusal,
} from '../features/incoming/receiving/accept/admit-recipient.ts'
import {
  createServerMailLimit,
  hasSpace,
  MAX_SERVER_MESSAGE_BYTES,
  MailboxFull,
  type ServerMailLimit,
} from '../features/incoming/receiving/limits.ts'
import { GuardedServer } from './guarded-server.ts'
import { createAllowance, createMessageBuffer, type MessageAllowance } from './message-buffer.ts'
import { cannotStore, refusal, type SmtpRefusal, toRefusal } from './refusal.ts'
import { type MailService, type ServerParts, startMailService } from './service.ts'
import type { SessionLimits } from './sessions.ts'

type Deps = Pick<
  Core,
  | 'certificates'
  | 'config'
  | 'disk'
  | 'keyring'
  | 'directory'
  | 'store'
  | 'inboundNotifier'
  | 'counters'
  | 'now'
  | 'log'
>

export type InboundOptions = {
  limits?: Partial<SessionLimits>
  /** The memory of all messages being received. */
  memoryBytes?: number
}

/** `admitted`: the accepted recipients of all sessions. */
type ListenerContext = Deps & {
  allowance: MessageAllowance
  admitted: WeakMap<SMTPServerAddress, InboundRecipient>
  serverMailLimit: ServerMailLimit
}

type RefusalReason = RecipientRefusal['refuse'] | 'full' | 'too-large' | 'too-often'

const MEMORY_BYTES = 80 * 1024 * 1024
/** The share of MEMORY_BYTES for small messages: more than the sessions of one address can hold. */
const SMALL_SHARE = 0.2
const MAX_MESSAGE_RECIPIENTS = 100
/** The limit of a command line (RFC 5321 section 4.5.3.1.4), with space for the parameters of extensions. */
const MAX_COMMAND_BYTES = 2_048

const REFUSALS: Record<RefusalReason, [code: string, text: string]> = {
  relay: ['550 5.7.1', 'This server does not relay'],
  forged: ['550 5.7.1', 'This return path was not made here'],
  unknown: ['550 5.1.1', 'There is no such mailbox here'],
  closed: ['451 4.2.1', 'The mailbox takes no mail at the moment, try again later'],
  full: ['452 4.2.2', 'The mailbox is full, try again later'],
  'too-large': ['552 5.3.4', `More than ${MAX_SERVER_MESSAGE_BYTES} bytes for this mailbox`],
  'too-often': ['452 4.7.1', 'Too much mail for this mailbox from your network, try again later'],
}

/** Listens on `inbound.listen`. @throws Error if an address or the certificate cannot be used */
export async function startInbound(
  deps: Deps,
  { limits, memoryBytes }: InboundOptions = {},
): Promise<MailService> {
  const { certificates, log, counters } = deps
  const { listen, maxMessageBytes } = deps.config.inbound
  const bytes = memoryBytes ?? Math.max(MEMORY_BYTES, 2.5 * maxMessageBytes)
  const allowance = createAllowance(bytes, bytes * SMALL_SHARE)
  const serverMailLimit = createServerMailLimit(deps.now)
  const context: ListenerContext = { ...deps, allowance, admitted: new WeakMap(), serverMailLimit }
  return startMailService(
    { name: 'inbound', log, counters, listen, certificates, limits },
    (parts) => createServer(context, parts),
  )
}

function createServer(
  context: ListenerContext,
  { sessions, certificate }: ServerParts,
): GuardedServer {
  const { delivery, inbound } = context.config
  return new GuardedServer(
    {
      ...certificate,
      name: delivery.hostname,
      disabledCommands:
        certificate === null ? [...UNSUPPORTED_COMMANDS, 'STARTTLS'] : UNSUPPORTED_COMMANDS,
      size: inbound.maxMessageBytes,
      maxRecipients: MAX_MESSAGE_RECIPIENTS,
      maxCommandLength: MAX_COMMAND_BYTES,
      onMailFrom: (_sender, _session, done) => done(canAcceptMail(context) ? null : cannotStore()),
      onRcptTo: (recipient, session, done) => {
        withLogFields({ sessionId: session.id }, () =>
          admit(context, recipient, session).then(
            () => done(),
            (error: unknown) => done(toRefusal(context.log, error)),
          ),
        )
      },
      onData: (stream, session, done) => {
        withLogFields({ sessionId: session.id }, () =>
          receive(context, stream, session).then(
            (id) => done(null, `2.0.0 Ok: stored as ${id}`),
            (error: unknown) => done(refuseMessage(context, session, error)),
          ),
        )
      },
    },
    sessions,
  )
}

/** Commands of smtp-server that this listener disables: log-in, proxy headers, and joke commands. */
const UNSUPPORTED_COMMANDS = ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL', 'HELP']

/** @throws SmtpRefusal */
async function admit(
  context: ListenerContext,
  recipient: SMTPServerAddress,
  session: SMTPServerSession,
): Promise<void> {
  const found = await admitRecipient(context, recipient)
  const refused = 'for' in found ? await findExcess(context, found, session) : found.refuse
  if ('for' in found && refused === undefined) {
    context.admitted.set(recipient, found)
    return
  }
  const reason = refused ?? 'unknown'
  context.counters.add('pillarbox_recipients_refused_total', { reason })
  // A full mailbox is a warning, because an operator can do something about it.
  const level = reason === 'full' ? 'warn' : 'info'
  context.log[level](
    { ...describe(session), to: recipient.address },
    `refused a recipient: ${reason}`,
  )
  throw refusal(...REFUSALS[reason])
}

/** Returns which limit the message exceeds, by the size that MAIL declared; undefined if none. */
async function findExcess(
  context: ListenerContext,
  recipient: InboundRecipient,
  session: SMTPServerSession,
): Promise<RefusalReason | undefined> {
  const sizeBytes = declaredSize(session)
  if (recipient.for === 'server') {
    if (sizeBytes > MAX_SERVER_MESSAGE_BYTES) return 'too-large'
    if (!context.serverMailLimit.allows(session.remoteAddress)) return 'too-often'
  }
  const fits = await hasSpace(context, context.store.read, {
    recipient,
    sizeBytes: sizeBytes || 1,
  })
  return fits ? undefined : 'full'
}

/** Returns the SIZE parameter of MAIL (RFC 1870), 0 without it. */
function declaredSize({ envelope }: SMTPServerSession): number {
  const { args } = envelope.mailFrom || {}
  return (args && Number(Object(args).SIZE)) || 0
}

/** Returns the id of the row. @throws SmtpRefusal, AppError DATABASE_ERROR, Error if the client leaves */
async function receive(
  context: ListenerContext,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<string> {
  const recipients = session.envelope.rcptTo.flatMap((one) => context.admitted.get(one) ?? [])
  const isForServer = recipients.some((one) => one.for === 'server')
  const { maxMessageBytes } = context.config.inbound
  const maxBytes = isForServer
    ? Math.min(MAX_SERVER_MESSAGE_BYTES, maxMessageBytes)
    : maxMessageBytes
  const buffer = createMessageBuffer({ maxBytes, allowance: context.allowance })
  try {
    for await (const chunk of stream) buffer.write(chunk as Buffer)
    const content = buffer.finish()
    await refuseClosed(context, recipients)
    if (!isForServer) return await store(context, session, { recipients, content })
    return await storeServerMail(context, session, { recipients, content })
  } finally {
    buffer.release()
  }
}

/** The reset of a project may have begun since RCPT. @throws SmtpRefusal */
async function refuseClosed(
  context: ListenerContext,
  recipients: readonly InboundRecipient[],
): Promise<void> {
  for (const recipient of recipients) {
    if (recipient.for === 'mailbox' && (await isClosed(context, recipient.projectId))) {
      throw refusal(...REFUSALS.closed)
    }
  }
}

type TransferredMessage = { recipients: InboundRecipient[]; content: readonly Buffer[] }

/** Stores mail to the server itself, a limited number per network. @throws SmtpRefusal */
async function storeServerMail(
  context: ListenerContext,
  session: SMTPServerSession,
  message: TransferredMessage,
): Promise<string> {
  const undoCount = context.serverMailLimit.count(session.remoteAddress)
  if (undoCount === undefined) throw refusal(...REFUSALS['too-often'])
  try {
    return await store(context, session, message)
  } catch (error) {
    undoCount()
    throw error
  }
}

/** @throws SmtpRefusal, AppError DATABASE_ERROR */
async function store(
  context: ListenerContext,
  session: SMTPServerSession,
  message: TransferredMessage,
): Promise<string> {
  try {
    const inboundId = await acceptInboundMessage(context, {
      ...message,
      reversePath: senderOf(session),
      clientAddress: session.remoteAddress,
      clientName: session.hostNameAppearsAs,
      protocol: session.transmissionType,
      tls: session.tlsOptions ? `${session.tlsOptions.version} ${session.tlsOptions.name}` : null,
    })
    context.log.debug({ inboundId }, 'a message was stored')
    return inboundId
  } catch (error) {
    if (error instanceof MailboxFull) throw refusal(...REFUSALS.full)
    throw error
  }
}

function refuseMessage(
  context: ListenerContext,
  session: SMTPServerSession,
  error: unknown,
): SmtpRefusal {
  const reply = toRefusal(context.log, error)
  const to = session.envelope.rcptTo.map(({ address }) => address)
  // 554 means SMTP smuggling or a loop. A message that is only too large needs no warning.
  const level = reply.responseCode === 554 ? 'warn' : 'info'
  context.log[level]({ ...describe(session), to }, `refused a message: ${reply.message}`)
  return reply
}

function describe(session: SMTPServerSession) {
  return { sessionId: session.id, peer: session.remoteAddress, from: senderOf(session) }
}

function senderOf({ envelope }: SMTPServerSession): string {
  return envelope.mailFrom === false ? '' : envelope.mailFrom.address
}
