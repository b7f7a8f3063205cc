/**
 * One SMTP session with one address of one MX host (RFC 5321): connected, greeted, under TLS where
 * it is offered, then used for one message after another. TLS is opportunistic: no certificate is
 * checked, and a handshake that breaks is told to the caller, who opens again without.
 */
import type { SecureContext } from 'node:tls'
import { type Now, now as systemNow } from '../../clock.ts'
import { classifyLocally } from '../../mail/replies/classify-reply.ts'
import type { Reply } from '../../mail/replies/reply.ts'
import type { AttemptOutcome, CurrentStep, StepName } from '../attempt.ts'
import {
  type AttemptContext,
  createStepLog,
  outcomeOfFailure,
  outcomeOfRefusal,
  outcomeOfReply,
  type StepLog,
} from '../outcomes.ts'
import {
  type Capabilities,
  checkEhloName,
  NO_CAPABILITIES,
  namedHost,
  parseCapabilities,
} from './commands.ts'
import type { KnownReplies } from './reply-parser.ts'
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts'
import { createTransactions, type SendInput, type SendResult } from './transaction.ts'
import { type Answer, connectWire, type Wire } from './wire.ts'
import { cutFailure } from './wire-failure.ts'

export type SessionOptions = {
  /** The MX host's name: for SNI, rules by provider, and the record. */
  host: string
  /** What is dialled: an IP address, never a name. */
  address: string
  port: number
  localAddress?: string
  ehloName: string
  /** Our own name: a server that calls itself so is us, and the mail would loop. */
  ownName?: string | null
  /** `never` after a broken handshake. */
  starttls?: 'opportunistic' | 'never'
  timeouts?: Partial<Timeouts>
  /** Made once and shared, since making one costs a millisecond. */
  secureContext?: SecureContext
  /** Shared between sessions, since servers of a kind say the same. */
  knownReplies?: KnownReplies
  now?: Now
  /** When the attempt began, for the steps' times; default now. */
  beganAt?: number
  /** Kept up to date with the step at hand. */
  current?: CurrentStep
  onGreeted?: () => void
  /** Ends the opening while there is no greeting yet. */
  cutSignal?: AbortSignal
}

export type Session = {
  readonly host: string
  readonly address: string
  readonly tls: string | null
  /** The steps that opening took. */
  readonly steps: AttemptOutcome['steps']
  readonly isOpen: boolean
  /** Open, and no message under way. */
  readonly isUsable: boolean
  /** Messages that were tried on it. */
  readonly sendCount: number
  /** One message at a time. TypeError for an envelope or a message that must not leave us. */
  send(input: SendInput): Promise<SendResult>
  /** Says QUIT and waits a moment. */
  quit(): Promise<void>
  close(): void
}

export type OpenFailure = {
  ok: false
  outcome: AttemptOutcome
  /** STARTTLS was accepted, then the handshake broke: try again with `starttls: 'never'`. */
  isTlsBroken: boolean
  /** We ended it ourselves, by `cutSignal`. */
  isCut: boolean
}

export type OpenResult = { ok: true; session: Session } | OpenFailure

type Opening = {
  options: SessionOptions
  timeouts: Timeouts
  now: Now
  log: StepLog
  wire: Wire
  capabilities: Capabilities
}

/** What ended the opening. */
type Trouble =
  | { kind: 'reply'; step: Exclude<StepName, 'dns'>; reply: Reply }
  | { kind: 'failure'; error: string; isTls?: boolean; isCut?: boolean }
  | { kind: 'loop'; reply: Reply }

/** TypeError for an address or EHLO name that is none; everything remote is a value. */
export async function openSession(options: SessionOptions): Promise<OpenResult> {
  checkEhloName(options.ehloName)
  const now = options.now ?? systemNow
  const log = createStepLog(now, options.beganAt ?? now(), options.current)
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts }
  const { host, address, port, localAddress, knownReplies } = options
  const since = now()
  log.begin('connect', since)
  const limitMs = timeouts.connect
  const { cutSignal } = options
  const wireOptions = { address, port, localAddress, limitMs, now, knownReplies, cutSignal }
  const connected = await connectWire(wireOptions)
  const error = connected.failure === null ? {} : { error: connected.failure.text }
  log.record({ step: 'connect', host, address, ...error }, since)
  if (connected.wire === null) {
    const context = { host, address, tls: null, log }
    const isCut = connected.failure.kind === 'cut'
    return openFailure(context, { kind: 'failure', error: connected.failure.text, isCut })
  }
  const { wire } = connected
  const opening: Opening = { options, timeouts, now, log, wire, capabilities: NO_CAPABILITIES }
  opening.wire.setDeadline(timeouts.whole)
  const trouble = (await handshake(opening)) ?? failureOf(opening.wire)
  if (trouble === null) return { ok: true, session: createSession(opening) }
  opening.wire.end()
  return openFailure(contextOf(opening), trouble)
}

/** A reply too many may have come along with the last one. */
function failureOf(wire: Wire): Trouble | null {
  const failure = wire.failure()
  return failure && { kind: 'failure', error: failure.text }
}

async function handshake(opening: Opening): Promise<Trouble | null> {
  const trouble = (await greet(opening)) ?? (await sayHello(opening))
  if (trouble !== null) return trouble
  if (!opening.capabilities.hasStarttls || opening.options.starttls === 'never') return null
  return startTls(opening)
}

async function greet({ wire, log, now, timeouts, options }: Opening): Promise<Trouble | null> {
  const since = now()
  log.begin('greeting', since)
  const cut = () => wire.end(cutFailure(now() - since))
  options.cutSignal?.addEventListener('abort', cut)
  const [greeting] = await wire.expect([timeouts.greeting])
  options.cutSignal?.removeEventListener('abort', cut)
  log.recordAnswer('greeting', greeting, since)
  if (greeting.reply !== null) options.onGreeted?.()
  return refusalOf('greeting', greeting) ?? loopOf(greeting, options)
}

/** EHLO, and HELO for a server that does not know it. */
async function sayHello(opening: Opening): Promise<Trouble | null> {
  const answer = await ask(opening, 'ehlo', `EHLO ${opening.options.ehloName}`)
  if (answer.reply !== null && answer.reply.code >= 500) {
    opening.capabilities = NO_CAPABILITIES
    const helo = await ask(opening, 'ehlo', `HELO ${opening.options.ehloName}`)
    return refusalOf('ehlo', helo) ?? loopOf(helo, opening.options)
  }
  const trouble = refusalOf('ehlo', answer) ?? loopOf(answer, opening.options)
  if (trouble === null) opening.capabilities = parseCapabilities(answer.reply?.lines ?? [])
  return trouble
}

/** A server that takes the offer back is served in clear, as one that never made it. */
async function startTls(opening: Opening): Promise<Trouble | null> {
  const { wire, log, options, timeouts } = opening
  const answer = await ask(opening, 'starttls', 'STARTTLS')
  if (answer.failure !== null) return { kind: 'failure', error: answer.failure.text }
  if (answer.reply.code === 421) {
    return { kind: 'reply', step: 'starttls', reply: answer.reply.stored }
  }
  if (answer.reply.code !== 220) return null
  const since = opening.now()
  log.begin('starttls', since)
  const { host: servername, secureContext } = options
  const limitMs = timeouts.handshake
  const failure = await wire.upgrade({ servername, limitMs, secureContext })
  log.record({ step: 'starttls', ...(failure ? { error: failure.text } : {}) }, since)
  if (failure !== null) {
    return { kind: 'failure', error: failure.text, isTls: failure.kind !== 'protocol' }
  }
  // A server that dislikes our handshake may say so only now (TLS 1.3).
  const trouble = await sayHello(opening)
  return trouble?.kind === 'failure' ? { ...trouble, isTls: true } : trouble
}

async function ask(
  { wire, log, now, timeouts }: Opening,
  step: 'ehlo' | 'starttls',
  command: string,
): Promise<Answer> {
  const since = now()
  log.begin(step, since)
  const answers = wire.expect([timeouts.command])
  wire.write(`${command}\r\n`)
  const [answer] = await answers
  log.recordAnswer(step, answer, since)
  return answer
}

function refusalOf(step: Exclude<StepName, 'dns'>, { reply, failure }: Answer): Trouble | null {
  if (failure !== null) {
    return { kind: 'failure', error: failure.text, isCut: failure.kind === 'cut' }
  }
  if (reply.code < 300) return null
  if (reply.code < 400) return { kind: 'failure', error: `${reply.code} is no answer to ${step}` }
  return { kind: 'reply', step, reply: reply.stored }
}

function loopOf({ reply }: Answer, { ownName }: SessionOptions): Trouble | null {
  if (!ownName || reply === null) return null
  if (namedHost(reply.lines[0] ?? '') !== namedHost(ownName)) return null
  return { kind: 'loop', reply: reply.stored }
}

function contextOf({ options, log, wire }: Opening): AttemptContext {
  return { host: options.host, address: options.address, tls: wire.tls(), log }
}

function openFailure(context: AttemptContext, trouble: Trouble): OpenFailure {
  const isTlsBroken = trouble.kind === 'failure' && trouble.isTls === true
  const isCut = trouble.kind === 'failure' && trouble.isCut === true
  return { ok: false, outcome: outcomeOfTrouble(context, trouble), isTlsBroken, isCut }
}

function outcomeOfTrouble(context: AttemptContext, trouble: Trouble): AttemptOutcome {
  switch (trouble.kind) {
    case 'reply':
      return outcomeOfReply(context, { stage: trouble.step, reply: trouble.reply })
    case 'failure':
      return outcomeOfFailure(context, trouble)
    case 'loop':
      return outcomeOfRefusal(context, {
        result: 'failed',
        verdict: classifyLocally('loop'),
        error: '5.4.6 the mail would loop: the server calls itself by our own name',
        reply: trouble.reply,
      })
  }
}

function createSession(opening: Opening): Session {
  const { wire, options, log, timeouts } = opening
  wire.setDeadline(null)
  const transactions = createTransactions({
    wire,
    timeouts,
    capabilities: opening.capabilities,
    host: options.host,
    address: options.address,
    now: opening.now,
  })

  async function quit(): Promise<void> {
    if (wire.failure() === null && !transactions.isBusy()) {
      const answers = wire.expect([timeouts.quit])
      wire.write('QUIT\r\n')
      await answers
    }
    wire.end()
  }

  return {
    host: options.host,
    address: options.address,
    tls: wire.tls(),
    steps: log.steps,
    get isOpen() {
      return wire.failure() === null
    },
    get isUsable() {
      return wire.failure() === null && !transactions.isBusy()
    },
    get sendCount() {
      return transactions.count()
    },
    send: transactions.send,
    quit,
    close: () => wire.end(),
  }
}
