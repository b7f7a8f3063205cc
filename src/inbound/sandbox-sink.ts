/**
 * The sandbox's SMTP server, on a free loopback port: accepts all mail and stores it for
 * `pillarbox sandbox list|show`. Its 250 means that the message is durable. A session that ends before the
 * final dot stores nothing; the attempt shows why.
 */
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Core } from '../core/core.ts'
import { insertSandboxMessage } from '../features/mail/messages/sandbox-messages.ts'
import { GuardedServer } from './guarded-server.ts'
import { isGone } from './refusal.ts'
import { createSessions, DEFAULT_SESSION_LIMITS, type SessionLimits } from './sessions.ts'

type SandboxSink = { port: number; stop(): Promise<void> }

type SinkDeps = Pick<Core, 'store' | 'now' | 'log' | 'config'>

/** The only clients are the delivery threads: one address, whose sessions last as long as there is mail. */
const LIMITS: SessionLimits = {
  ...DEFAULT_SESSION_LIMITS,
  connectionsPerAddress: DEFAULT_SESSION_LIMITS.connections,
  messages: Number.POSITIVE_INFINITY,
  sessionMs: Number.POSITIVE_INFINITY,
}

export async function startSandboxSink(deps: SinkDeps): Promise<SandboxSink> {
  const sessions = createSessions(LIMITS)
  const options = {
    name: deps.config.delivery.hostname,
    disabledCommands: ['AUTH', 'STARTTLS'],
    banner: 'Pillarbox sandbox',
    size: deps.config.limits.messageMaxBytes * 2,
    onData: (
      stream: SMTPServerDataStream,
      session: SMTPServerSession,
      done: (error?: Error | null, message?: string) => void,
    ) => {
      store(deps, stream, session).then(
        () => done(null, 'stored in the sandbox'),
        (error: unknown) => {
          // The envelope of a next message may be open when a session ends (`smtp/session.ts`).
          if (!isGone(error)) deps.log.error({ error }, 'the sandbox could not store a message')
          done(Object.assign(new Error('Not stored, try again'), { responseCode: 451 }))
        },
      )
    },
  }
  const server = new GuardedServer(options, sessions)
  server.on('error', (error) => deps.log.debug({ error }, 'a session of the sandbox failed'))
  const { port } = await server.bind({ host: '127.0.0.1', port: 0, isTls: false })
  const stop = async () => {
    const closed = new Promise<void>((resolve) => server.close(resolve))
    await sessions.stop(0)
    await closed
  }
  return { port, stop }
}

async function store(
  deps: SinkDeps,
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
): Promise<void> {
  const raw = Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>))
  const fields = await readFields(raw)
  for (const { address } of envelope.rcptTo) {
    await insertSandboxMessage(deps, { ...fields, recipient: address, raw })
  }
}

async function readFields(raw: Buffer): Promise<{ sender: string; subject: string }> {
  // Loaded with the first message: the parser takes tens of megabytes, and few servers are sandboxes.
  const { simpleParser } = await import('mailparser')
  const end = raw.indexOf('\r\n\r\n')
  const { from, subject } = await simpleParser(raw.subarray(0, end === -1 ? raw.length : end + 4))
  return { sender: from?.text ?? '', subject: subject ?? '' }
}
