/**
 * Fills the database of a server that is stopped, in SQL, as a server of an earlier version would have
 * left it: the follower of analytics has counted nothing yet, all others are through.
 */
import Database from 'better-sqlite3'
import { DAY_MS } from '../../../src/base/clock.ts'
import { loadTables } from '../seeding/loading.ts'
import { showProgress } from '../seeding/progress.ts'
import {
  beginOf,
  CAMPAIGNS,
  DAYS,
  EVENT_NAMES,
  FIRMS,
  LINKS,
  type Plan,
  TEMPLATES,
  WORKFLOWS,
} from './plan.ts'

/** Makes the ids of its rows. */
const KINDS = {
  ...{ contact: 1, email: 2, campaign: 3, template: 4, workflow: 5, execution: 6 },
  ...{ event: 7, content: 8 },
}
const TABLES = ['contacts', 'emails', 'attempts', 'events', 'workflow_executions']
/** The events of an email: sent, delivery, and the shares of the others. */
const EVENTS_OF_AN_EMAIL = 2.57

/** Returns the number of events. */
export function fillAnalytics(file: string, projectId: string, plan: Plan): number {
  const progress = showProgress()
  const database = new Database(file)
  database.exec(`pragma foreign_keys = off; pragma synchronous = off; pragma cache_size = -500000;
    pragma temp_store = memory; pragma threads = 2`)
  const project = `'${projectId}'`
  const fill = () => {
    for (const [step, text] of statementsOf(project, plan)) {
      progress.step(step)
      database.exec(text)
    }
    progress.step('events')
    for (let day = 0; day < DAYS; day += 1) {
      database.exec(eventsOfDay(project, plan, day))
      progress.at(day, DAYS)
    }
  }
  loadTables(database, TABLES, { fill, progress })
  progress.step('figures')
  database.exec(figures(project, plan))
  database.pragma('wal_checkpoint(TRUNCATE)')
  const { events } = database.prepare('select count(*) as events from events').get() as {
    events: number
  }
  database.close()
  progress.end()
  return events
}

const numbers = (count: number | string) =>
  `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ${count})`

/** In the order of `at`, as the server's own ids are. */
function idOf(kind: keyof typeof KINDS, number: string, at: string | number): string {
  const time = `printf('%08x-%04x', (${at}) >> 16, (${at}) & 65535)`
  return `${time} || printf('-7${KINDS[kind].toString().padStart(3, '0')}-8000-%012x', ${number})`
}

/** A number below 1,000 that seems random. */
const chance = (number: string, salt: number) =>
  `((((${number}) + ${salt}) * ${2_654_435_761 + salt * 104_729_018}) >> 9) % 1000`

function statementsOf(project: string, plan: Plan): [string, string][] {
  const { emails, contacts, until } = plan
  const from = beginOf(plan)
  const at = `(${from} + n * ${DAYS * DAY_MS} / ${emails})`
  const contact = `(n % ${contacts})`
  const provider = `case when ${contact} % 100 < 40 then 'gmail.com' when ${contact} % 100 < 52
    then 'outlook.com' when ${contact} % 100 < 58 then 'yahoo.com' when ${contact} % 100 < 62
    then 'icloud.com' else 'firm' || (${contact} % ${FIRMS}) || '.example' end`
  const isBounced = `${chance('n', 1)} < 10`
  const isOpened = `(not ${isBounced} and ${chance('n', 2)} < 400)`
  const opened = `(${at} + 60000 * (1 + ${chance('n', 4)}))`
  const isClicked = `(${isOpened} and ${chance('n', 3)} < 250)`
  const stream = `case when n % 10 < 6 then 'CAMPAIGN' when n % 10 < 9 then 'TRANSACTIONAL'
    else 'WORKFLOW' end`
  const sender = `'shop@example.test', 'example.test'`
  const times = `${from}, ${from}`
  return [
    [
      'definitions',
      `${numbers(CAMPAIGNS)} insert into campaigns (id, project_id, name, subject, body, from_address,
          from_domain, status, sent_at, total_recipients, created_at, updated_at)
        select ${idOf('campaign', 'n', from)}, ${project}, 'Campaign ' || n, 'News ' || n, '<p>News</p>',
          ${sender}, 'SENT', ${from} + n * ${(DAYS * DAY_MS) / CAMPAIGNS}, 0, ${times} from numbers;
      ${numbers(TEMPLATES)} insert into templates (id, project_id, name, subject, body, from_address,
          from_domain, created_at, updated_at)
        select ${idOf('template', 'n', from)}, ${project}, 'Template ' || n, 'Hello', '<p>Hello</p>',
          ${sender}, ${times} from numbers;
      ${numbers(WORKFLOWS)} insert into workflows (id, project_id, name, created_at, updated_at)
        select ${idOf('workflow', 'n', from)}, ${project}, 'Workflow ' || n, ${times} from numbers;
      insert into contents (id, project_id, subject, body, last_used_at, created_at)
        values (${idOf('content', '0', from)}, ${project}, 'Hello', '<p>Hello</p>', ${until}, ${from});`,
    ],
    [
      'contacts',
      `${numbers(contacts)} insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
        select ${idOf('contact', 'n', from)}, ${project}, 'person' || n || '@' || ${provider}, 1,
          ${times} from numbers;`,
    ],
    [
      'executions',
      `${numbers(emails)} insert into workflow_executions (id, project_id, workflow_id, contact_id,
          status, started_at, completed_at, updated_at)
        select ${idOf('execution', 'n', at)}, ${project}, ${idOf('workflow', `n / 10 % ${WORKFLOWS}`, from)},
          ${idOf('contact', contact, from)}, 'COMPLETED', ${at}, ${at}, ${at}
        from numbers where n % 10 = 9;`,
    ],
    [
      'emails',
      `${numbers(emails)} insert into emails (id, project_id, contact_id, content_id, source_type,
          template_id, campaign_id, workflow_execution_id, recipient, recipient_domain, from_address,
          subject, content_class, is_tracked, message_id, state, status, shelf, queue_class, attempt_count,
          give_up_at, sent_at, delivered_at, bounced_at, opened_at, clicked_at, opens, clicks,
          created_at, updated_at)
        select ${idOf('email', 'n', at)}, ${project}, ${idOf('contact', contact, from)},
          ${idOf('content', '0', from)}, ${stream},
          case when n % 10 >= 6 then ${idOf('template', `n / 10 % ${TEMPLATES}`, from)} end,
          case when n % 10 < 6 then ${idOf('campaign', `n * ${CAMPAIGNS} / ${emails}`, from)} end,
          case when n % 10 = 9 then ${idOf('execution', 'n', at)} end,
          'person' || ${contact} || '@' || ${provider}, ${provider}, 'shop@example.test', 'Hello',
          case when n % 10 < 6 then 'MARKETING' else 'TRANSACTIONAL' end, 1,
          n || '@example.test', iif(${isBounced}, 'bounced', 'delivered'),
          case when ${isBounced} then 'BOUNCED' when ${isClicked} then 'CLICKED'
            when ${isOpened} then 'OPENED' else 'DELIVERED' end, iif(${isBounced}, 4, null),
          10, 1, ${at}, iif(${isBounced}, null, ${at}), iif(${isBounced}, null, ${at}),
          iif(${isBounced}, ${at}, null), iif(${isOpened}, ${opened}, null),
          iif(${isClicked}, ${opened} + 30000, null), ${isOpened}, ${isClicked}, ${at}, ${at}
        from numbers;`,
    ],
    [
      'attempts',
      `insert into attempts (email_id, at, duration_ms, result, host, steps)
        select id, created_at, 250, state, case
            when recipient_domain = 'gmail.com' then 'gmail-smtp-in.l.google.com'
            when rowid % 3 = 0 then 'aspmx.l.google.com'
            when rowid % 3 = 1 then 'firm-example.mail.protection.outlook.com'
            else 'mx.' || recipient_domain end, '[]'
        from emails;`,
    ],
  ]
}

/** Those of the emails of a day, and as many of clients as are left for it, in their order. */
function eventsOfDay(project: string, plan: Plan, day: number): string {
  const { emails, events, contacts } = plan
  const [first, last] = [day, day + 1].map((each) => Math.floor((each * emails) / DAYS))
  const begin = beginOf(plan) + day * DAY_MS
  const ofClients = Math.max(0, Math.floor((events - emails * EVENTS_OF_AN_EMAIL) / DAYS))
  const ofEmails = (name: string, at: string, condition: string, data = 'null') =>
    `select '${name}' as name, contact_id, id as email_id, ${data} as data, ${at} as at
      from emails where rowid > ${first} and rowid <= ${last} and ${condition}`
  const link = `'https://shop.example/products/' || (${chance('rowid', 5)} % ${LINKS})`
  const client = `select 'event ' || (${chance('n', 6)} % ${EVENT_NAMES}),
      ${idOf('contact', `n * 7919 % ${contacts}`, beginOf(plan))}, null, '{"total":12}',
      ${begin} + n * ${DAY_MS} / ${Math.max(1, ofClients)} from numbers where ${ofClients} > 0`
  return `${numbers(ofClients)} insert into events (id, project_id, name, contact_id, email_id, data, created_at)
    select ${idOf('event', `row_number() over (order by at)`, 'at')}, ${project}, name, contact_id,
      email_id, data, at from (
      ${ofEmails('email.sent', 'sent_at', 'sent_at is not null')}
      union all ${ofEmails('email.delivery', 'delivered_at', 'delivered_at is not null')}
      union all ${ofEmails('email.bounce', 'bounced_at', 'bounced_at is not null', `'{"bounceType":"Permanent"}'`)}
      union all ${ofEmails('email.open', 'opened_at', 'opened_at is not null', `'{"opens":1,"isFirstOpen":true}'`)}
      union all ${ofEmails('email.open', 'opened_at + 7200000', 'opened_at is not null and rowid % 5 = 0', `'{"opens":2,"isFirstOpen":false}'`)}
      union all ${ofEmails('email.click', 'clicked_at', 'clicked_at is not null', `json_object('link', ${link}, 'clicks', 1, 'isFirstClick', json('true'))`)}
      union all ${ofEmails('email.complaint', 'sent_at + 3600000', `delivered_at is not null and ${chance('rowid', 7)} < 1`)}
      union all ${ofEmails('contact.unsubscribed', 'opened_at + 90000', `opened_at is not null and ${chance('rowid', 8)} < 8`, `'{"reason":"page"}'`)}
      union all ${client}
    ) order by at;`
}

/** What triggers and followers would have kept. */
function figures(project: string, { contacts }: Plan): string {
  return `update projects set contact_count = ${contacts}, subscribed_count = ${contacts}
      where id = ${project};
    insert into campaign_progress (campaign_id, project_id, begun_at, last_number, expanded_at,
        rows_made, sent_count, delivered_count, opened_count, clicked_count, bounced_count)
      select campaign_id, ${project}, min(created_at), 0, max(created_at), count(*), count(*),
        count(delivered_at), count(opened_at), count(clicked_at), count(bounced_at)
      from emails where campaign_id is not null group by campaign_id;
    update campaigns set total_recipients = coalesce((select rows_made from campaign_progress
      where campaign_id = campaigns.id), 0) where project_id = ${project};
    update event_followers set seq = (select max(seq) from events) where name <> 'analytics';`
}
