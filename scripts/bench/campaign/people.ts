/**
 * The list of the campaign benchmark, as real lists are: 60% of the recipients at 20 provider domains
 * behind 8 sets of MX hosts, the others at domains of their own, ten times fewer than recipients. One
 * domain of its own in a hundred does not exist.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { newId } from '../../../src/store/ids.ts'
import type { DnsZone } from '../../../test/fakes/dns-server.ts'

const PROVIDER_SHARE = 0.6
const PROVIDERS = 20
const MX_SETS = 8
const RECIPIENTS_PER_OWN_DOMAIN = 10
const DEAD_SHARE = 0.01
const BATCH = 5_000

export type People = {
  count: number
  zone: DnsZone
  /** Recipients at domains that do not exist. */
  dead: number
}

export type PeopleOptions = {
  count: number
  /** The bytes of each contact's data. */
  dataBytes: number
  /** The length of the names of MX hosts. */
  hostLength: number
}

const isAtProvider = (index: number) => index % 10 < PROVIDER_SHARE * 10
const isDead = (domain: number) => domain % (1 / DEAD_SHARE) === 50

/** Writes the contacts of the only project to the database. */
export function addPeople(file: string, options: PeopleOptions): People {
  const database = new Database(file)
  const { id: projectId } = database.prepare('SELECT id FROM projects').get() as { id: string }
  const insert = database.prepare(
    `INSERT INTO contacts (id, project_id, email, subscribed, data, created_at, updated_at)
      VALUES (?, ?, ?, 1, ?, ?, ?)`,
  )
  const owned = Math.max(1, Math.floor(options.count / RECIPIENTS_PER_OWN_DOMAIN))
  let dead = 0
  const fill = database.transaction((from: number, to: number) => {
    const at = Date.now()
    for (let index = from; index < to; index += 1) {
      const own = index % owned
      if (!isAtProvider(index) && isDead(own)) dead += 1
      insert.run(newId(), projectId, addressOf(index, own), dataOf(index, options), at, at)
    }
  })
  for (let from = 0; from < options.count; from += BATCH) {
    fill(from, Math.min(options.count, from + BATCH))
  }
  database.close()
  return { count: options.count, zone: zoneOf(owned, options), dead }
}

/**
 * Waits until the running server has added the contacts to its search index. Contacts of a real list
 * have been there for a while.
 */
export async function waitForSearchIndex(file: string): Promise<void> {
  const database = new Database(file, { readonly: true })
  const backlog = database.prepare('SELECT count(*) FROM contact_search_backlog').pluck()
  while (Number(backlog.get()) > 0) await sleep(100)
  database.close()
}

function addressOf(index: number, own: number): string {
  const domain = isAtProvider(index) ? `provider${index % PROVIDERS}.example` : `own${own}.example`
  return `person${index}@${domain}`
}

/** The template names `name` and `city`; the rest is what contacts have besides. */
function dataOf(index: number, { dataBytes }: PeopleOptions): string {
  const named = { name: `Person ${index}`, city: 'Zürich' }
  const { length } = JSON.stringify(named)
  const note = 'x'.repeat(Math.max(0, dataBytes - length - 10))
  return JSON.stringify(note === '' ? named : { ...named, note })
}

/** Every host is on this machine, in a network (/24) of its own as far as 127.0.0.0/8 has them. */
function zoneOf(owned: number, { hostLength }: PeopleOptions): DnsZone {
  // The single emails that are sent meanwhile.
  const zone: DnsZone = { 'other.example': { MX: [[10, hostName('others', hostLength)]] } }
  zone[hostName('others', hostLength)] = { A: ['127.1.99.1'] }
  for (let set = 0; set < MX_SETS; set += 1) {
    zone[hostName(`set${set}`, hostLength)] = { A: [`127.1.${set}.1`] }
  }
  for (let index = 0; index < PROVIDERS; index += 1) {
    zone[`provider${index}.example`] = { MX: [[10, hostName(`set${index % MX_SETS}`, hostLength)]] }
  }
  for (let own = 0; own < owned; own += 1) {
    if (isDead(own)) continue
    const mx = hostName(`mx${own}`, hostLength)
    zone[`own${own}.example`] = { MX: [[10, mx]] }
    zone[mx] = { A: [`127.${2 + ((own >> 8) % 250)}.${own & 255}.${1 + (own >> 16)}`] }
  }
  return zone
}

/** `mx-xxxx.set3-hosts.example`, of that length; the last two labels are those of its operator. */
function hostName(name: string, length: number): string {
  const operator = `${name}-hosts.example`
  const first = 'mx'.padEnd(Math.min(62, length - operator.length - 1), '-x')
  return `${first}x.${operator}`
}
