/**
 * The seeded emails: from the last year, with more in each month; most belong to campaigns, whose
 * recipients share a content, the others to some templates. Nearly all were delivered; two in five of
 * those were opened, and one in twenty had a click.
 */
import type Database from 'better-sqlite3'
import { DAY_MS } from '../../../src/base/clock.ts'
import { newId } from '../../../src/store/ids.ts'
import { SHELF } from '../../../src/store/shelves.ts'
import { prose } from '../mail/sender.ts'
import type { SeededContacts } from './contacts.ts'
import { insertRows, loadTables } from './loading.ts'
import { contactsAt, type Plan, projectOfContact, projectPlans } from './plan.ts'
import type { Progress } from './progress.ts'
import type { ProjectIds } from './projects.ts'
import { createChoice, createIds, createRandom, type Random } from './random.ts'

/** The events of an email. Instants are epoch milliseconds; null: did not happen. */
export type Trace = {
  emailId: string
  contact: number
  sentAt: number | null
  bouncedAt: number | null
  openedAt: number | null
  clickedAt: number | null
  complainedAt: number | null
}

const YEAR_MS = 365 * DAY_MS
/** The retention of bodies. */
const BODY_MS = 90 * DAY_MS
const CAMPAIGN_EMAILS = 20_000
const TEMPLATES = 20
const HEAVY_SHARE = 0.2
const columns = (
  'id project_id contact_id content_id source_type recipient recipient_domain from_address subject ' +
  'content_class is_tracked message_id state status shelf queue_class attempt_count failure_count ' +
  'give_up_at error sent_at delivered_at opened_at clicked_at bounced_at complained_at opens clicks ' +
  'created_at updated_at'
).split(' ')

type Deps = { projects: ProjectIds; contacts: SeededContacts; progress: Progress }

/** Returns the traces of the newest `traced` emails, in order. */
export function fillEmails(
  database: Database.Database,
  plan: Plan,
  { projects, contacts, progress, traced }: Deps & { traced: number },
): Trace[] {
  const random = createRandom(2_002)
  const emailId = createIds(random)
  const contents = fillContents(database, plan, projects)
  const isCampaign = createChoice(random, [
    [true, 75],
    [false, 25],
  ])
  const traces: Trace[] = []
  const into = { table: 'emails', columns, count: plan.emails, progress }
  const fill = () =>
    insertRows(database, into, (index) => {
      const at = emailTime(plan, index)
      const contact = pickContact(random, plan, { at, heavyShare: HEAVY_SHARE })
      const id = emailId(at)
      const trace = { emailId: id, contact, ...liveOn(random, at, plan.at) }
      if (index >= plan.emails - traced) traces.push(trace)
      const name = projectOfContact(contact)
      const content = contents(name, isCampaign() ? index : random())
      const recipient = contacts.emails[contact] as string
      return [
        ...[id, projects[name], contacts.ids[contact], content.id, content.source, recipient],
        ...[recipient.slice(recipient.indexOf('@') + 1), `shop@${name}.example.test`],
        ...[content.subject, content.source === 'CAMPAIGN' ? 'MARKETING' : 'TRANSACTIONAL', 1],
        ...[`${id}@${name}.example.test`, ...standing(trace), at + 3 * DAY_MS],
        ...[trace.bouncedAt === null ? null : '550 5.1.1 User unknown', trace.sentAt, trace.sentAt],
        ...[trace.openedAt, trace.clickedAt, trace.bouncedAt, trace.complainedAt],
        ...[trace.openedAt === null ? 0 : 1, trace.clickedAt === null ? 0 : 1, at],
        trace.clickedAt ?? trace.openedAt ?? trace.sentAt ?? at,
      ]
    })
  loadTables(database, ['emails'], { fill, progress })
  return traces
}

/** Picks a contact that exists at that time. A share `heavyShare` falls on few, by a power law. */
export function pickContact(
  random: Random,
  plan: Plan,
  { at, heavyShare }: { at: number; heavyShare: number },
): number {
  const known = contactsAt(plan, at)
  if (random() >= heavyShare) return Math.floor(known * random())
  for (;;) {
    const rank = Math.floor(plan.contacts * random() ** 3)
    // A prime spreads the heavy contacts over the whole range.
    const contact = (rank * 7_919) % plan.contacts
    if (contact < known) return contact
  }
}

/** The acceptance time of an email; later for each index. */
function emailTime({ emails, at }: Plan, index: number): number {
  return Math.floor(at - YEAR_MS + YEAR_MS * ((index + 0.5) / emails) ** 0.8)
}

type Life = Omit<Trace, 'emailId' | 'contact'>

function liveOn(random: Random, at: number, end: number): Life {
  const before = (instant: number) => (instant < end ? Math.floor(instant) : null)
  const life: Life = {
    sentAt: null,
    bouncedAt: null,
    openedAt: null,
    clickedAt: null,
    complainedAt: null,
  }
  const fate = random()
  const attemptedAt = Math.min(end, at + 500 + Math.floor(20_000 * random() ** 3))
  if (fate < 0.012) return { ...life, bouncedAt: attemptedAt }
  life.sentAt = attemptedAt
  if (fate < 0.0124) life.complainedAt = before(attemptedAt + DAY_MS * random())
  if (random() < 0.4) life.openedAt = before(attemptedAt + 5 * DAY_MS * random() ** 6 + 60_000)
  if (life.openedAt !== null && random() < 0.12) {
    life.clickedAt = before(life.openedAt + 5_000 + 600_000 * random())
  }
  return life
}

/** state, status, shelf, queue_class, attempt_count, failure_count */
function standing(trace: Trace): [string, string, number | null, number, number, number] {
  if (trace.bouncedAt !== null) return ['bounced', 'BOUNCED', SHELF.bounced, 10, 1, 1]
  const status = [
    ['COMPLAINED', trace.complainedAt] as const,
    ['CLICKED', trace.clickedAt] as const,
    ['OPENED', trace.openedAt] as const,
  ].find(([, at]) => at !== null)
  const shelf = status?.[0] === 'COMPLAINED' ? SHELF.complained : null
  return ['delivered', status?.[0] ?? 'DELIVERED', shelf, 10, 1, 0]
}

type Content = { id: string; subject: string; source: 'CAMPAIGN' | 'TRANSACTIONAL' }

/**
 * Inserts contents and returns the content of an email: of a campaign by the email's index (an integer
 * above 0), of a template by a random number below 1.
 */
function fillContents(
  database: Database.Database,
  plan: Plan,
  projects: ProjectIds,
): (project: string, choice: number) => Content {
  const insert = database.prepare(`insert into contents
    (id, project_id, share_key, subject, body, links, last_used_at, created_at)
    values (?, ?, ?, ?, ?, ?, ?, ?)`)
  const campaigns = Math.ceil(plan.emails / CAMPAIGN_EMAILS)
  const add = (project: string, subject: string, usedAt: number): string => {
    const id = newId()
    const isKept = usedAt > plan.at - BODY_MS
    const body = isKept
      ? `${prose(2_048)}<p><a href="https://${project}.example.test/">Visit</a></p>`
      : null
    const links = isKept ? null : JSON.stringify([`https://${project}.example.test/`])
    const owner = projects[project as keyof ProjectIds]
    insert.run(id, owner, id, subject, body, links, usedAt, plan.at - YEAR_MS)
    return id
  }
  const made = projectPlans.map(({ name }) => {
    const lastOf = (campaign: number) =>
      emailTime(plan, Math.min(plan.emails, (campaign + 1) * CAMPAIGN_EMAILS) - 1)
    const news = Array.from({ length: campaigns }, (_, campaign): Content => {
      const subject = `News, number ${campaign + 1}`
      return { id: add(name, subject, lastOf(campaign)), subject, source: 'CAMPAIGN' }
    })
    const notes = Array.from({ length: TEMPLATES }, (_, template): Content => {
      const subject = `About your order, ${template + 1}`
      return { id: add(name, subject, plan.at), subject, source: 'TRANSACTIONAL' }
    })
    return [name as string, { news, notes }] as const
  })
  const byProject = new Map(made)
  return (project, choice) => {
    const { news = [], notes = [] } = byProject.get(project) ?? {}
    const found =
      choice < 1
        ? notes[Math.floor(choice * TEMPLATES)]
        : news[Math.floor(choice / CAMPAIGN_EMAILS)]
    return found as Content
  }
}
