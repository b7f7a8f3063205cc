/**
 * The seeded contacts: three in four at a few providers, the others at about a thousand companies;
 * about four in five are subscribed; each of the six data fields is missing in some contacts.
 */
import type Database from 'better-sqlite3'
import { DAY_MS } from '../../../src/base/clock.ts'
import { insertRows, loadTables } from './loading.ts'
import { contactTime, type Plan, projectOfContact } from './plan.ts'
import type { Progress } from './progress.ts'
import type { ProjectIds } from './projects.ts'
import { createChoice, createIds, createRandom, pick, type Random } from './random.ts'
import { cities, firstNames, lastNames, toAscii } from './words.ts'

/** A contact by index; the order of the indexes is the order of creation. */
export type SeededContacts = { ids: string[]; emails: string[] }

type Person = { first: string; last: string }

const COMPANIES = 8_000
const SUBSCRIBED = 0.78
const columns = ['id', 'project_id', 'email', 'subscribed', 'data', 'created_at', 'updated_at']

/** Inserts contacts, and the figures that triggers would maintain. */
export function fillContacts(
  database: Database.Database,
  plan: Plan,
  { projects, progress }: { projects: ProjectIds; progress: Progress },
): SeededContacts {
  const seeded: SeededContacts = { ids: [], emails: [] }
  const random = createRandom(1_001)
  const newId = createIds(random)
  const address = createAddresses(random)
  const data = createData(random, plan.at)
  const into = { table: 'contacts', columns, count: plan.contacts, progress }
  const fill = () =>
    insertRows(database, into, (index) => {
      const at = contactTime(plan, index)
      const person = { first: pick(random, firstNames, 1.5), last: pick(random, lastNames, 1.5) }
      const id = newId(at)
      const email = address(person, index)
      seeded.ids.push(id)
      seeded.emails.push(email)
      const subscribed = random() < SUBSCRIBED ? 1 : 0
      const updatedAt = Math.floor(at + (plan.at - at) * random() ** 2)
      const project = projects[projectOfContact(index)]
      return [id, project, email, subscribed, data(person, at), at, updatedAt]
    })
  loadTables(database, ['contacts'], { fill, progress })
  writeTriggerResults(database, progress)
  return seeded
}

/** `anna.keller123@gmail.com`: the number makes the address unique. */
function createAddresses(random: Random): (person: Person, index: number) => string {
  const ascii = new Map([...firstNames, ...lastNames].map((name) => [name, toAscii(name)]))
  const provider = createChoice(random, [
    ['gmail.com', 46],
    ['outlook.com', 9],
    ['yahoo.com', 6],
    ['hotmail.com', 5],
    ['icloud.com', 4],
    ['gmx.de', 3],
    ['web.de', 2],
    [undefined, 25],
  ])
  const separator = createChoice(random, [
    ['.', 6],
    ['', 3],
    ['_', 1],
  ])
  return ({ first, last }, index) => {
    const company = Math.floor(COMPANIES * random() ** 3)
    const domain = provider() ?? `company-${company}.example.org`
    return `${ascii.get(first)}${separator()}${ascii.get(last)}${index}@${domain}`
  }
}

function createData(random: Random, end: number): (person: Person, at: number) => string | null {
  const plan = createChoice(random, [
    ['free', 66],
    ['starter', 18],
    ['pro', 9],
    ['business', 2.6],
    ['enterprise', 0.4],
    [undefined, 4],
  ])
  return ({ first, last }, at) => {
    if (random() < 0.02) return null
    const signedUp = at - Math.floor(30 * DAY_MS * random() ** 4)
    const data = {
      name: random() < 0.92 ? `${first} ${last}` : undefined,
      plan: plan(),
      age: random() < 0.6 ? 18 + Math.floor(60 * random() ** 1.6) : undefined,
      city: random() < 0.75 ? pick(random, cities, 2.5) : undefined,
      signedUp:
        random() < 0.85 ? new Date(Math.min(signedUp, end)).toISOString().slice(0, 10) : undefined,
      vip: random() < 0.3 ? random() < 0.15 : undefined,
    }
    const text = JSON.stringify(data)
    return text === '{}' ? null : text
  }
}

function writeTriggerResults(database: Database.Database, progress: Progress): void {
  progress.step('contact counts and fields')
  database.exec(`
    update projects set (contact_count, subscribed_count) =
      (select count(*), coalesce(sum(subscribed), 0) from contacts
        where contacts.project_id = projects.id);
    insert into contact_fields (project_id, key, kind, contacts)
      select project_id, key, kind, count(*) from contact_values group by project_id, key, kind`)
  progress.step('contact_search')
  database.exec(
    'insert into contact_search (rowid, email) select number, email from contacts order by number',
  )
}
