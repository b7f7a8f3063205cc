/**
 * How each receiver behaves, as the `respond` of a sink. It reports what reaches a final dot, when the
 * 250 went out, and whom it refuses for good.
 *
 *   healthy       takes everything
 *   slow          answers a message after 5 s
 *   greylisting   defers the first RCPT of each email
 *   refusing      550 for recipients that begin with `gone`
 *   dropping      cuts one command in ten, in any phase, also after the final dot
 *   dead          takes everything, once it is there
 */
import type { Socket } from 'node:net'
import type { SinkAction, SinkCommand, SinkOptions } from '../../../test/fakes/smtp-sink.ts'
import type { Random } from '../../bench/seeding/random.ts'
import { type Site, SLOW_MS, UNKNOWN_RECIPIENT } from '../plan/sites.ts'
import { readArrived, readEmailId } from './arrived-message.ts'
import type { SinkEvent } from './sink-events.ts'

type Report = (event: SinkEvent) => void
type Envelope = { from: string; to: string }
type Respond = NonNullable<SinkOptions['respond']>

export type BehaviourDeps = {
  random: Random
  isCalm(): boolean
  nextSerial(): number
  report: Report
}

const DROP_SHARE = 0.1
const OK = '250 2.0.0 Ok: queued'
const cut: SinkAction = (socket) => socket.destroy()

export function createBehaviour(deps: BehaviourDeps, site: Site): Respond {
  const envelopes = new Map<number, Envelope>()
  const greylisted = new Set<string>()

  return (command) => {
    const envelope = readEnvelope(envelopes, command)
    if (command.verb === 'MESSAGE') return takeMessage(deps, site, { envelope, command })
    if (isDropped(deps, site)) return drop(command)
    if (command.verb === 'RCPT') return answerRecipient(deps, site, { envelope, greylisted })
    return undefined
  }
}

/** The envelope of the connection's transaction, with what this command says. */
function readEnvelope(envelopes: Map<number, Envelope>, command: SinkCommand): Envelope {
  const { verb, line, connection } = command
  const envelope = envelopes.get(connection) ?? { from: '', to: '' }
  const path = /<([^>]*)>/.exec(verb === 'MESSAGE' ? '' : line)?.[1] ?? ''
  if (verb === 'MAIL') envelope.from = path
  if (verb === 'RCPT') envelope.to = path
  if (verb === 'QUIT') envelopes.delete(connection)
  else envelopes.set(connection, envelope)
  return envelope
}

function answerRecipient(
  { report }: BehaviourDeps,
  { domain: site, behaviour }: Site,
  { envelope: { from, to }, greylisted }: { envelope: Envelope; greylisted: Set<string> },
): SinkAction | undefined {
  const emailId = readEmailId(from)
  if (behaviour === 'refusing' && to.startsWith(UNKNOWN_RECIPIENT)) {
    report({ is: 'refusal', site, emailId, to, at: Date.now() })
    return '550 5.1.1 No such user here'
  }
  if (behaviour === 'greylisting' && !greylisted.has(emailId)) {
    greylisted.add(emailId)
    return '451 4.7.1 Greylisted, please try again in 3 seconds'
  }
  return undefined
}

function takeMessage(
  deps: BehaviourDeps,
  site: Site,
  { envelope, command }: { envelope: Envelope; command: SinkCommand },
): SinkAction {
  const serial = deps.nextSerial()
  const at = Date.now()
  const message = { ...readArrived(command.line), ...envelope }
  const emailId = readEmailId(envelope.from)
  deps.report({ is: 'arrival', serial, site: site.domain, emailId, at, ...message })
  if (isDropped(deps, site)) return cut
  return (socket) => {
    const answer = () => {
      if (!socket.writable) return
      socket.write(`${OK}\r\n`)
      deps.report({ is: 'replied', serial, at: Date.now() })
    }
    if (site.behaviour === 'slow') setTimeout(answer, SLOW_MS)
    else answer()
  }
}

function isDropped({ random, isCalm }: BehaviourDeps, { behaviour }: Site): boolean {
  return behaviour === 'dropping' && !isCalm() && random() < DROP_SHARE
}

/** At DATA, the connection ends within the message. */
function drop({ verb }: SinkCommand): SinkAction {
  if (verb !== 'DATA') return cut
  return (socket: Socket) => {
    // The sink must not take the message for commands.
    socket.removeAllListeners('data')
    socket.once('data', () => socket.destroy())
    socket.write('354 go on\r\n')
  }
}
