/**
 * The sandbox's SMTP server, on a free loopback port: accepts all mail and stores it for
 * `pillarbox sandbox list|show`. Its 250 means that the message is durable.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import type { Core } from '../features/core.ts'
import { insertSandboxMessage } from '../features/messages/sandbox-messages.ts'

type SandboxSink = { port: number; stop(): Promise<void> }

type SinkDeps = Pick<Core, 'store' | 'now' | 'log' | 'config'>

export async function startSandboxSink(deps: SinkDeps): Promise<SandboxSink> {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    banner: 'Pillarbox sandbox',
    size: deps.config.limits.messageMaxBytes * 2,
    onData: (stream, session, done) => {
      store(deps, stream, session).then(
        () => done(null, 'stored in the sandbox'),
        (error: unknown) => {
          deps.log.error({ error }, 'the sandbox could not store a message')
          done(Object.assign(new Error('Not stored, try again'), { responseCode: 451 }))
        },
      )
    },
  })
  server.on('error', (error) => deps.log.warn({ error }, 'a session of the sandbox failed'))
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
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
