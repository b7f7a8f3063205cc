/**
 * An authoritative DNS server in this process, on UDP and TCP of one free loopback port, for tests
 * (RFC 1035). It answers what `zone` says, follows CNAMEs as a recursive server does, truncates a
 * UDP answer that does not fit and keeps every query it saw. A name that is not in the zone does
 * not exist, but for the canaries that a configuration has by default.
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

type DnsFailure = 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'SILENT'
type DnsType = 'A' | 'NS' | 'CNAME' | 'PTR' | 'MX' | 'TXT' | 'AAAA'
type DnsRecords = {
  A?: string[] | DnsFailure
  AAAA?: string[] | DnsFailure
  /** `[preference, host]`; a host of '' is the root: `[[0, '']]` is a null MX. */
  MX?: [number, string][] | DnsFailure
  /** Of any length: cut into strings of 255 octets. */
  TXT?: string[] | DnsFailure
  NS?: string[] | DnsFailure
  PTR?: string[] | DnsFailure
  CNAME?: string
  /** Seconds, 300 by default. */
  ttl?: number
  /** The answer waits that long. */
  delayMs?: number
}
export type DnsZone = Record<string, DnsRecords | DnsFailure>
type DnsQuery = { name: string; type: string; transport: 'udp' | 'tcp' }

export type FakeDns = {
  /** `127.0.0.1:<port>`, for `dns.servers`. */
  address: string
  queries: DnsQuery[]
  /** How many queries came for `name`, of `type` or of any. */
  count(name: string, type?: DnsType): number
  /** Every question gets this answer, whatever the zone says; `undefined` ends it. */
  answerAll(failure: DnsFailure | 'NODATA' | undefined): void
  /** Replaces what is known of a name; `undefined` makes it unknown. */
  set(name: string, records: DnsRecords | DnsFailure | undefined): void
  stop(): Promise<void>
}

type Question = { id: number; name: string; type: number; end: number; maxUdpBytes: number }
type Reply = { bytes: Buffer; delayMs: number } | undefined

const typeNumbers: Record<DnsType, number> = {
  ...{ A: 1, NS: 2, CNAME: 5, PTR: 12, MX: 15, TXT: 16, AAAA: 28 },
}
const typeNames = new Map(Object.entries(typeNumbers).map(([name, number]) => [number, name]))
/** As `dns.canary` has them by default. */
export const canaries = ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com']

const codes = { OK: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 }

export async function startDnsServer(zone: DnsZone = {}): Promise<FakeDns> {
  const names = new Map<string, DnsRecords | DnsFailure>([
    ...canaries.map((name) => [name, { MX: [[10, `mx.${name}`]] }] as [string, DnsRecords]),
    ...Object.entries(zone).map(([name, entry]) => [name.toLowerCase(), entry] as const),
  ])
  let forAll: DnsRecords | DnsFailure | undefined
  const queries: DnsQuery[] = []
  const timers = new Set<NodeJS.Timeout>()
  const respond = (packet: Buffer, transport: 'udp' | 'tcp', send: (bytes: Buffer) => void) => {
    const question = readQuestion(packet)
    const type = typeNames.get(question.type) ?? String(question.type)
    queries.push({ name: question.name, type, transport })
    const known = forAll === undefined ? names : { get: () => forAll }
    const reply = answer(known, packet, question)
    if (reply === undefined) return
    const fits = transport === 'tcp' || reply.bytes.length <= question.maxUdpBytes
    const bytes = fits ? reply.bytes : truncated(packet, question)
    if (reply.delayMs === 0) return send(bytes)
    const timer = setTimeout(() => {
      timers.delete(timer)
      send(bytes)
    }, reply.delayMs)
    timers.add(timer)
  }
  const { tcp, udp, port, sockets } = await listen(respond)
  return {
    address: `127.0.0.1:${port}`,
    queries,
    count: (name, type) =>
      queries.filter((query) => query.name === name && (type ?? query.type) === query.type).length,
    answerAll(failure) {
      forAll = failure === 'NODATA' ? {} : failure
    },
    set(name, records) {
      if (records === undefined) names.delete(name.toLowerCase())
      else names.set(name.toLowerCase(), records)
    },
    async stop() {
      for (const timer of timers) clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
      const closed = [once(tcp, 'close'), once(udp, 'close')]
      tcp.close()
      udp.close()
      await Promise.all(closed)
    },
  }
}

type Respond = (packet: Buffer, transport: 'udp' | 'tcp', send: (bytes: Buffer) => void) => void
type Listening = { tcp: Server; udp: UdpSocket; port: number; sockets: Set<Socket> }

/** One port that is free for both transports. */
async function listen(respond: Respond): Promise<Listening> {
  for (;;) {
    const sockets = new Set<Socket>()
    const tcp = createServer((socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      serveTcp(socket, respond)
    })
    tcp.listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    udp.bind(port, '127.0.0.1')
    const isBound = await once(udp, 'listening').then(
      () => true,
      () => false,
    )
    if (isBound) {
      udp.on('message', (packet, from) =>
        respond(packet, 'udp', (bytes) => udp.send(bytes, from.port, from.address)),
      )
      return { tcp, udp, port, sockets }
    }
    // The port is free for one of the transports only; both sockets of this attempt end.
    udp.close()
    tcp.close()
  }
}

function serveTcp(socket: Socket, respond: Respond): void {
  let pending = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const length = pending.readUInt16BE(0)
      const packet = pending.subarray(2, 2 + length)
      pending = pending.subarray(2 + length)
      respond(packet, 'tcp', (bytes) => {
        if (!socket.destroyed) socket.write(Buffer.concat([uint16(bytes.length), bytes]))
      })
    }
  })
}

function answer(
  names: Pick<Map<string, DnsRecords | DnsFailure>, 'get'>,
  packet: Buffer,
  question: Question,
): Reply {
  const chain: Buffer[] = []
  let name = question.name
  let delayMs = 0
  for (let hops = 0; hops < 16; hops++) {
    const entry = names.get(name) ?? 'NXDOMAIN'
    if (typeof entry === 'string') return failure(packet, question, { entry, chain, delayMs })
    delayMs += entry.delayMs ?? 0
    const ttl = entry.ttl ?? 300
    const type = typeNames.get(question.type) as DnsType | undefined
    if (entry.CNAME !== undefined && type !== 'CNAME') {
      chain.push(record(name, typeNumbers.CNAME, ttl, encodeName(entry.CNAME)))
      name = entry.CNAME.toLowerCase()
      continue
    }
    const values = type === undefined ? undefined : entry[type]
    if (typeof values === 'string' && type !== 'CNAME')
      return failure(packet, question, { entry: values as DnsFailure, chain, delayMs })
    const data = encodeValues(type, entry)
    const records = data.map((value) => record(name, question.type, ttl, value))
    return { bytes: message(packet, question, codes.OK, [...chain, ...records]), delayMs }
  }
  return { bytes: message(packet, question, codes.SERVFAIL, chain), delayMs }
}

function failure(
  packet: Buffer,
  question: Question,
  { entry, chain, delayMs }: { entry: DnsFailure; chain: Buffer[]; delayMs: number },
): Reply {
  if (entry === 'SILENT') return undefined
  return { bytes: message(packet, question, codes[entry], chain), delayMs }
}

function encodeValues(type: DnsType | undefined, entry: DnsRecords): Buffer[] {
  switch (type) {
    case 'A':
      return list(entry.A).map((address) => Buffer.from(address.split('.').map(Number)))
    case 'AAAA':
      return list(entry.AAAA).map(encodeIpv6)
    case 'MX':
      return list(entry.MX).map(([preference, host]) =>
        Buffer.concat([uint16(preference), encodeName(host)]),
      )
    case 'TXT':
      return list(entry.TXT).map(encodeText)
    case 'NS':
      return list(entry.NS).map(encodeName)
    case 'PTR':
      return list(entry.PTR).map(encodeName)
    case 'CNAME':
      return entry.CNAME === undefined ? [] : [encodeName(entry.CNAME)]
    default:
      return []
  }
}

function list<T>(values: T[] | DnsFailure | undefined): T[] {
  return Array.isArray(values) ? values : []
}

function readQuestion(packet: Buffer): Question {
  const labels: string[] = []
  let at = 12
  while (packet.readUInt8(at) !== 0) {
    const length = packet.readUInt8(at)
    labels.push(packet.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = packet.readUInt16BE(at + 1)
  const end = at + 5
  // An OPT record (RFC 6891) right after the question says how large an answer may be.
  const hasOpt = packet.readUInt16BE(10) > 0 && packet.length >= end + 5
  const maxUdpBytes = hasOpt ? Math.max(512, packet.readUInt16BE(end + 3)) : 512
  const name = labels.join('.').toLowerCase()
  return { id: packet.readUInt16BE(0), name, type, end, maxUdpBytes }
}

function message(packet: Buffer, question: Question, code: number, records: Buffer[]): Buffer {
  const flags = 0x8580 | code
  const header = [question.id, flags, 1, records.length, 0, 0].map(uint16)
  return Buffer.concat([...header, packet.subarray(12, question.end), ...records])
}

function truncated(packet: Buffer, question: Question): Buffer {
  const bytes = message(packet, question, codes.OK, [])
  bytes.writeUInt16BE(bytes.readUInt16BE(2) | 0x0200, 2)
  return bytes
}

function record(name: string, type: number, ttl: number, data: Buffer): Buffer {
  const seconds = Buffer.alloc(4)
  seconds.writeUInt32BE(ttl)
  return Buffer.concat([encodeName(name), uint16(type), uint16(1), seconds, withLength(data)])
}

function withLength(data: Buffer): Buffer {
  return Buffer.concat([uint16(data.length), data])
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  const parts = labels.map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')]))
  return Buffer.concat([...parts, Buffer.from([0])])
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255)
    parts.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat(parts)
}

function encodeIpv6(address: string): Buffer {
  const [head = '', tail] = address.split('::')
  const left = groups(head)
  const right = tail === undefined ? [] : groups(tail)
  const gap = Array.from({ length: 8 - left.length - right.length }, () => 0)
  return Buffer.concat([...left, ...gap, ...right].map(uint16))
}

/** The last group may be an IPv4 address, as in `::ffff:10.0.0.1`. */
function groups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255])
}
