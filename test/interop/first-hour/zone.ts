/** What DNS knows: the internet around the server, and what the product has printed for it. */
import type { ZoneRecord } from '../mail/dnsmasq.ts'
import { ADDRESS } from './network.ts'

export const HOST = 'mail.shop.test'
export const SENDER = 'shop.test'
export const OTHER = 'other.test'
export const AUTHORITY = 'acme.test'

export const INTERNET: readonly ZoneRecord[] = [
  { type: 'MX', name: 'dest.test', value: '10 mx.dest.test' },
  { type: 'A', name: 'mx.dest.test', value: ADDRESS.mx },
  { type: 'A', name: AUTHORITY, value: ADDRESS.authority },
  { type: 'A', name: OTHER, value: ADDRESS.otherWeb },
]

/** The records that `init` prints, with the address that the operator knows. */
export function readServerRecords(printed: string): ZoneRecord[] {
  const table = /^NAME +TYPE +VALUE\r?\n([\s\S]*?)\r?\n\r?\n/m.exec(printed)?.[1] ?? ''
  return table.split(/\r?\n/).flatMap((line) => {
    const [, name = '', type = '', value = ''] = /^(.+?) {2,}(\S+) +(.+?)\s*$/.exec(line) ?? []
    return type === 'AAAA' ? [] : [addAddress({ name, type, value })]
  })
}

function addAddress({ name, type, value }: ZoneRecord): ZoneRecord {
  if (type === 'A') return { name, type, value: ADDRESS.server }
  return type === 'PTR' ? { name: reverseName(ADDRESS.server), type, value } : { name, type, value }
}

export function reverseName(address: string): string {
  return `${address.split('.').reverse().join('.')}.in-addr.arpa`
}

/** The records with the value of one of them replaced. */
export function replaceRecord(
  records: readonly ZoneRecord[],
  { name, type, value }: ZoneRecord,
): ZoneRecord[] {
  const at = records.findIndex((one) => one.name === name && one.type === type)
  if (at === -1) throw new Error(`there is no ${type} of ${name}`)
  return records.with(at, { name, type, value })
}
