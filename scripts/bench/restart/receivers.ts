/**
 * Receivers on many networks, each a site of its own: those of `slow<n>.example` answer to a message
 * after five seconds, the one of `fast.example` at once. They count what they accepted by its id.
 */
import { type DnsZone, startDnsServer } from '../../../test/fakes/dns-server.ts'
import { type SinkAction, startSink } from '../../../test/fakes/smtp-sink.ts'

export type Receivers = {
  port: number
  dnsAddress: string
  /** Messages that wait for their answer now. */
  inHand(): number
  /** How many times each message was accepted, by the id of its email. */
  accepted: ReadonlyMap<string, number>
  stop(): Promise<void>
}

export const SLOW_SITES = 40
const ANSWER_MS = 5_000

export async function startReceivers(): Promise<Receivers> {
  const accepted = new Map<string, number>()
  let inHand = 0
  const accept = (text: string) => {
    const id = /^Message-ID: <([^@>]+)@/im.exec(text)?.[1] ?? ''
    accepted.set(id, (accepted.get(id) ?? 0) + 1)
  }
  const answerLater =
    (text: string): SinkAction =>
    (socket) => {
      inHand += 1
      setTimeout(() => {
        inHand -= 1
        accept(text)
        if (!socket.destroyed) socket.write('250 2.0.0 Ok\r\n')
      }, ANSWER_MS)
    }
  const sink = await startSink({
    host: '0.0.0.0',
    forgets: true,
    respond({ verb, line }) {
      if (verb !== 'MESSAGE') return undefined
      if (/^To: .*@slow/im.test(line)) return answerLater(line)
      accept(line)
      return undefined
    },
  })
  const dns = await startDnsServer(zone())
  return {
    ...{ port: sink.port, dnsAddress: dns.address, accepted, inHand: () => inHand },
    async stop() {
      await Promise.all([dns.stop(), sink.stop()])
    },
  }
}

function zone(): DnsZone {
  const site = (name: string, network: number): DnsZone => ({
    [name]: { MX: [[10, `mx.${name}`]] },
    [`mx.${name}`]: { A: [`127.0.${network}.1`] },
  })
  const slow = Array.from({ length: SLOW_SITES }, (_, at) => site(`slow${at}.example`, at + 1))
  return Object.assign(site('fast.example', 200), ...slow)
}
