/**
 * Follows the dialogue of nodemailer's connection: records the steps of the attempt with the server's
 * replies, limits the time for each reply, and applies the rules of `wire.ts`: no reply may be endless,
 * and none may come without a command. Commands are read from nodemailer's transaction log,
 * which masks secrets; they are not stored. Replies are read from the log, too, until the session is
 * open, and then from the socket, before nodemailer reads them.
 */
import type { Socket } from 'node:net'
import type { Now } from '../../base/clock.ts'
import type { Reply } from '../../formats/replies/reply.ts'
import type { StepName } from '../attempt.ts'
import type { StepLog } from '../outcomes.ts'
import type { Timeouts } from './commands.ts'
import { createReplyParser, type ServerReply } from './reply-parser.ts'

type LogEntry = { tnx?: string; remotePort?: number }
type LogMethod = (entry: LogEntry, message?: unknown) => void

export type Transcript = {
  /** The logger to give to nodemailer. */
  logger: Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', LogMethod>
  /** Records all further steps in `log`. */
  follow(log: StepLog): void
  /** Expects the connection to open within its limit. */
  expectConnection(peer: { host: string; address: string }): void
  /** Reads replies from the socket from now on; call it when the session is open. */
  listen(socket: Socket): void
  lastEhlo(): ServerReply | null
  /** Whether the whole message and its final dot have been written to the socket. */
  isMessageSent(): boolean
  /** Expects nothing more; records the error for the step that was expected next. */
  stop(error: string): void
}

type TranscriptDeps = {
  now: Now
  timeouts: Timeouts
  /** Called when a reply is late, malformed or unexpected. */
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
    // The lone dot of an empty message. Its reply has been expected since the 354.
    if (verb === '.') return
    const step = stepOf(verb)
    expect(step, limitOf(step, timeouts))
  }

  function onOctets(octets: string): void {
    const error = parser.push(octets)
    if (error !== null) onTrouble(`the server sent ${error}`)
    // The reply to the message is expected only now: it cannot be among the octets that came with
    // the 354.
    if (isMessageDue) expect('message', timeouts.message)
    isMessageDue = false
  }

  function onReply(reply: ServerReply): void {
    const next = expected.shift()
    armTimer()
    if (next === undefined) {
      onTrouble('the server sent a reply without a command')
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

/** Returns null for RSET and QUIT, whose replies are not recorded as steps. */
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
