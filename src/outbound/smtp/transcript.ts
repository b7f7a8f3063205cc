/**
 * What nodemailer's connection says and hears: the steps of the attempt, the server's replies, a
 * limit for each, and the rules that hold on our own connections: no endless reply, and none that
 * nothing had asked for. Commands are overheard from nodemailer's transaction log, where secrets
 * are masked, and are not kept. Replies come from there too until the session stands; from then
 * on they are read from the socket, ahead of nodemailer.
 */
import type { Socket } from 'node:net'
import type { Now } from '../../clock.ts'
import type { Reply } from '../../mail/replies/reply.ts'
import type { StepName } from '../attempt.ts'
import type { StepLog } from '../outcomes.ts'
import { createReplyParser, type ServerReply } from './reply-parser.ts'
import type { Timeouts } from './timeouts.ts'

type LogEntry = { tnx?: string; remotePort?: number }
type LogMethod = (entry: LogEntry, message?: unknown) => void

export type Transcript = {
  /** In the form that nodemailer logs to. */
  logger: Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', LogMethod>
  /** The steps of what follows go here. */
  follow(log: StepLog): void
  /** The connection is being opened. */
  expectConnection(peer: { host: string; address: string }): void
  /** The session stands: replies are read here from now on. */
  listen(socket: Socket): void
  lastEhlo(): ServerReply | null
  /** The whole message and its final dot have been handed to the socket. */
  isMessageSent(): boolean
  /** Nothing more is expected; the step that was waited for ends with the error. */
  stop(error: string): void
}

export type TranscriptDeps = {
  now: Now
  timeouts: Timeouts
  /** A reply is late, or is none. */
  onTrouble: (text: string) => void
}

type Expected = {
  step: StepName | null
  since: number
  limitMs: number
  peer: { host: string; address: string } | null
}

export function createTranscript({ now, timeouts, onTrouble }: TranscriptDeps): Transcript {
  const expected: Expected[] = []
  let log: StepLog | null = null
  let ehlo: ServerReply | null = null
  let timer: NodeJS.Timeout | undefined
  let isConnected = false
  let isListening = false
  let isMessageDue = false
  let isMessageSent = false
  const parser = createReplyParser(onReply)

  function expect(step: StepName | null, limitMs: number, peer: Expected['peer'] = null): void {
    expected.push({ step, since: now(), limitMs, peer })
    if (expected.length === 1) armTimer()
  }

  function armTimer(): void {
    clearTimeout(timer)
    const [next] = expected
    if (next === undefined) return
    const { step, since } = next
    if (step !== null && step !== 'dns') log?.begin(step, since)
    timer = setTimeout(() => onTrouble(`timed out (${next.step ?? 'command'})`), next.limitMs)
  }

  function record(
    { step, since, peer }: Expected,
    result: { reply?: Reply; error?: string },
  ): void {
    if (step !== null) log?.record({ step, ...peer, ...result }, since)
  }

  function onCommand(line: string): void {
    const verb = line.split(/[ :]/, 1)[0]?.toUpperCase() ?? ''
    if (verb === 'MAIL') isMessageSent = false
    // The lone dot of an empty message: its reply has been expected since the 354.
    if (verb === '.') return
    const step = stepOf(verb)
    expect(step, limitOf(step, timeouts))
  }

  function onOctets(octets: string): void {
    const error = parser.push(octets)
    if (error !== null) onTrouble(`the server sent ${error}`)
    // Not before all that came with the 354 was read: the answer cannot be among it.
    if (isMessageDue) expect('message', timeouts.message)
    isMessageDue = false
  }

  function onReply(reply: ServerReply): void {
    const next = expected.shift()
    armTimer()
    if (next === undefined) {
      onTrouble('the server sent a reply that nothing had asked for')
      return
    }
    if (next.step === 'ehlo') ehlo = reply
    isMessageDue = next.step === 'data' && reply.code === 354
    record(next, { reply: reply.stored })
  }

  const debug: LogMethod = ({ tnx }, message) => {
    if (tnx === 'client') onCommand(String(message))
    if (tnx === 'server' && !isListening) onOctets(Buffer.from(`${message}\n`).toString('latin1'))
  }

  const info: LogMethod = ({ tnx, remotePort }) => {
    if (tnx === 'message') {
      isMessageSent = true
      log?.begin('final-dot')
    }
    if (tnx !== 'network' || remotePort === undefined || isConnected) return
    isConnected = true
    const connecting = expected.shift()
    if (connecting) record(connecting, {})
    expect('greeting', timeouts.greeting)
  }

  function stop(error: string): void {
    clearTimeout(timer)
    const [next] = expected.splice(0)
    if (next) record(next, { error })
  }

  function listen(socket: Socket): void {
    isListening = true
    socket.prependListener('data', (bytes: Buffer) => onOctets(bytes.toString('latin1')))
  }

  const ignore = () => undefined
  return {
    logger: { trace: ignore, debug, info, warn: ignore, error: ignore, fatal: ignore },
    follow(next) {
      log = next
    },
    expectConnection: (peer) => expect('connect', timeouts.connect, peer),
    listen,
    lastEhlo: () => ehlo,
    isMessageSent: () => isMessageSent,
    stop,
  }
}

/** Null for RSET and QUIT, whose replies are no step. */
function stepOf(verb: string): StepName | null {
  switch (verb) {
    case 'EHLO':
    case 'HELO':
      return 'ehlo'
    case 'STARTTLS':
      return 'starttls'
    case 'MAIL':
      return 'mail'
    case 'RCPT':
      return 'rcpt'
    case 'DATA':
      return 'data'
    case 'RSET':
    case 'QUIT':
      return null
    default:
      return 'auth'
  }
}

function limitOf(step: StepName | null, timeouts: Timeouts): number {
  if (step === 'mail' || step === 'rcpt' || step === 'data') return timeouts[step]
  return timeouts.command
}
