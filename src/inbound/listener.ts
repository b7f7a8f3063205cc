/**
 * The listener for mail from outside: bounces, complaints, replies. Whom it takes mail for is
 * decided at RCPT (`features/receiving/recipient.ts`), so that nothing is ever relayed or sent back
 * to a forged sender; a message gets its 250 when it is durable, and is read later.
 */
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Core } from '../features/core.ts'
import { canKeep, type InboundRecipient, keepInbound } from '../features/receiving/keep.ts'
import { admitRecipient, type Refusal } from '../features/receiving/recipient.ts'
import { GuardedServer } from './guarded-server.ts'
import { type Allowance, createAllowance, createIntake } from './intake.ts'
import { cannotKeep, refusal, type SmtpRefusal, toRefusal } from './refusal.ts'
import { type MailService, type ServerParts, startMailService } from './service.ts'
import type { SessionLimits } from './sessions.ts'

type Deps = Pick<
  Core,
  'certificates' | 'config' | 'disk' | 'keyring' | 'directory' | 'store' | 'inbox' | 'now' | 'log'
>

export type InboundOptions = {
  limits?: Partial<SessionLimits>
  /** What all messages under way may hold. */
  memoryBytes?: number
}

/** `admitted`: what each recipient of a session is, as RCPT found. */
type Desk = Deps & { allowance: Allowance; admitted: WeakMap<SMTPServerAddress, InboundRecipient> }

const MEMORY_BYTES = 80 * 1024 * 1024
/** Of it for small messages: more than one address can hold by them. */
const SMALL_SHARE = 0.2
const MAX_RECIPIENTS = 100
/** RFC 5321 section 4.5.3.1.4, with room for the parameters of extensions. */
const MAX_COMMAND_BYTES = 2_048

const refusals: Record<Refusal['refuse'], [code: string, text: string]> = {
  relay: ['550 5.7.1', 'We do not relay'],
  forged: ['550 5.7.1', 'This return path was not made here'],
  unknown: ['550 5.1.1', 'There is no such mailbox here'],
}

/** On `inbound.listen`. @throws Error when an address or the certificate cannot be used */
export async function startInbound(
  deps: Deps,
  { limits, memoryBytes }: InboundOptions = {},
): Promise<MailService> {
  const { certificates, log } = deps
  const { listen, maxMessageBytes } = deps.config.inbound
  const bytes = memoryBytes ?? Math.max(MEMORY_BYTES, 2.5 * maxMessageBytes)
  const allowance = createAllowance(bytes, bytes * SMALL_SHARE)
  const desk: Desk = { ...deps, allowance, admitted: new WeakMap() }
  return startMailService({ name: 'inbound', log, listen, certificates, limits }, (parts) =>
    createServer(desk, parts),
  )
}

function createServer(desk: Desk, { sessions, certificate }: ServerParts): GuardedServer {
  const { delivery, inbound } = desk.config
  return new GuardedServer(
    {
      ...certificate,
      name: delivery.hostname,
      disabledCommands: certificate === null ? [...foreign, 'STARTTLS'] : foreign,
      size: inbound.maxMessageBytes,
      maxRecipients: MAX_RECIPIENTS,
      maxCommandLength: MAX_COMMAND_BYTES,
      onMailFrom: (_sender, _session, done) => done(canKeep(desk) ? null : cannotKeep()),
      onRcptTo: (recipient, session, done) => {
        admit(desk, recipient, session).then(
          () => done(),
          (error: unknown) => done(toRefusal(desk.log, error)),
        )
      },
      onData: (stream, session, done) => {
        take(desk, stream, session).then(
          (id) => done(null, `2.0.0 Kept as ${id}`),
          (error: unknown) => done(refuseMessage(desk, session, error)),
        )
      },
    },
    sessions,
  )
}

/** Nobody logs in here, and nobody plays. */
const foreign = ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL', 'HELP']

/** @throws SmtpRefusal */
async function admit(
  desk: Desk,
  recipient: SMTPServerAddress,
  session: SMTPServerSession,
): Promise<void> {
  const found = await admitRecipient(desk, recipient)
  if ('for' in found) {
    desk.admitted.set(recipient, found)
    return
  }
  desk.log.info(
    { ...describe(session), to: recipient.address },
    `refused a recipient: ${found.refuse}`,
  )
  throw refusal(...refusals[found.refuse])
}

/** The id of the row. @throws SmtpRefusal, AppError DATABASE_ERROR, Error when the client leaves */
async function take(
  desk: Desk,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<string> {
  const { allowance, config } = desk
  const intake = createIntake({ maxBytes: config.inbound.maxMessageBytes, allowance })
  try {
    for await (const chunk of stream) intake.write(chunk as Buffer)
    return await keepInbound(desk, {
      reversePath: senderOf(session),
      recipients: session.envelope.rcptTo.flatMap((one) => desk.admitted.get(one) ?? []),
      clientAddress: session.remoteAddress,
      clientName: session.hostNameAppearsAs,
      protocol: session.transmissionType,
      tls: session.tlsOptions ? `${session.tlsOptions.version} ${session.tlsOptions.name}` : null,
      content: intake.finish(),
    })
  } finally {
    intake.release()
  }
}

function refuseMessage(desk: Desk, session: SMTPServerSession, error: unknown): SmtpRefusal {
  const reply = toRefusal(desk.log, error)
  const to = session.envelope.rcptTo.map(({ address }) => address)
  // Whoever smuggles is worth a warning, who merely sends too much is not.
  const level = reply.responseCode === 554 ? 'warn' : 'info'
  desk.log[level]({ ...describe(session), to }, `refused a message: ${reply.message}`)
  return reply
}

function describe(session: SMTPServerSession): { peer: string; from: string } {
  return { peer: session.remoteAddress, from: senderOf(session) }
}

function senderOf({ envelope }: SMTPServerSession): string {
  return envelope.mailFrom === false ? '' : envelope.mailFrom.address
}
