/**
 * `npm run bench:campaign`: a campaign of 100,000 recipients (`-- --recipients N`, `-- --million`) from
 * the request to its last email, beside POST /v1/send at 50 a second. The list is as real ones are
 * (campaign/people.ts), the message a personalised HTML of 5 KB with five tracked links, pixel, footer
 * and one-click fields, signed with RSA-2048; the receivers answer after 20 ms, defer 5% once and
 * refuse 1%. The same list queued as single emails is delivered for comparison.
 *
 * Required: 0.8 of the delivery of single emails; an expansion of 30,000 rows a second; less than
 * 400 MB of memory; p99 of the sends and of the requests about the campaign below 150 ms; less than
 * 2.2 KB of the main file for each delivered recipient; no message begins later than a second after
 * the answer to a cancellation.
 *
 * `-- --only campaign,cancel` measures these parts of single, campaign, expansion, cancel and growth.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { startDnsServer } from '../../test/fakes/dns-server.ts'
import { measureCancel } from './campaign/cancel.ts'
import { campaignConfiguration } from './campaign/configuration.ts'
import { measureExpansion } from './campaign/expansion.ts'
import { measureGrowth } from './campaign/growth.ts'
import { addPeople, type People, waitForSearchIndex } from './campaign/people.ts'
import { createApi, sendCampaign, startReceivers, startRequests } from './campaign/processes.ts'
import { queueForEverybody } from './campaign/queue-emails.ts'
import { makeCampaignBody } from './campaign/text.ts'
import { makeMessage, verifyInsteadOfTrust } from './mail/direct.ts'
import { type LoadResult, makeProject, startLoad } from './mail/sender.ts'
import { measureSigningLimit, showShare } from './mail/signing.ts'
import { createBench, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'

const recipients = Number(
  process.argv.includes('--million') ? 1_000_000 : (readOption('--recipients') ?? 100_000),
)
const wanted = readOption('--only')?.split(',')
/** Of requests beyond those that the targets name. */
const rarely = { everyMs: 2_000 }
const LIST = { dataBytes: 200, hostLength: 40 }

type Result = {
  /** Emails at their end a second, from the request to the last one. */
  perSecond: number
  peakMegabytes: number
  sends: LoadResult
  requests: Record<string, number>
}

const receivers = await startReceivers({ replyLength: 100 })
try {
  const limit = await measureSigningLimit()
  const single = await part('single', measureSingle)
  if (single !== undefined) report('single emails', single)
  const campaign = await part('campaign', measureCampaign)
  if (campaign !== undefined) report('campaign', campaign)
  const expansion = await part('expansion', () => measureExpansion(recipients, LIST))
  const cancel = await part('cancel', () =>
    measureCancel(receivers, { count: recipients, ...LIST }),
  )
  const growth = await part('growth', measureGrowth)
  const ratio = single && campaign ? show(campaign.perSecond / single.perSecond, 2) : ''
  printTable([
    [`${recipients} recipients`, 'a second', 'ratio', 'share', 'peak MB', 'send p99 ms'],
    ['RSA-2048 signatures, all cores', show(limit), '', '100%', '', ''],
    ...(single ? [row('single emails, same list', single, limit, '')] : []),
    ...(campaign ? [row('campaign', campaign, limit, ratio)] : []),
    ...(expansion ? [['expansion alone (rows)', show(expansion), '', '', '', '']] : []),
  ])
  if (campaign !== undefined) {
    printTable([
      ['requests meanwhile', 'p99 ms'],
      ...Object.entries(campaign.requests).map(([name, ms]) => [name, show(ms, 1)]),
    ])
  }
  if (cancel !== undefined) {
    printTable([
      [`cancelled while ${cancel.waiting} wait`, ''],
      ['answer, ms', show(cancel.answerMs)],
      ['last DATA after the answer, ms', show(cancel.lastDataMs)],
      ['last email ended after, s', show(cancel.endedSeconds, 1)],
    ])
  }
  if (growth !== undefined) {
    printTable([
      ['main file, bytes', 'for each'],
      ['delivered recipient', show(growth.perDelivered)],
      ...growth.tables.map(({ name, bytes }) => [`  ${name}`, show(bytes)]),
      ['open or click', show(growth.perHit)],
    ])
  }
} finally {
  receivers.stop()
}

function row(name: string, result: Result, limit: number, ratio: string): string[] {
  const { perSecond, peakMegabytes, sends } = result
  const share = showShare(perSecond, limit)
  return [name, show(perSecond), ratio, share, show(peakMegabytes), show(sends.p99Ms, 1)]
}

function report(name: string, { perSecond, peakMegabytes }: Result): void {
  console.log(`${name}: ${show(perSecond)} a second, peak ${show(peakMegabytes)} MB`)
}

function readOption(name: string): string | undefined {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}

/** Undefined if the part is not wanted. */
async function part<T>(name: string, run: () => Promise<T>): Promise<T | undefined> {
  return wanted === undefined || wanted.includes(name) ? run() : undefined
}

type Prepared = { begin(url: string, secret: string): Promise<void> }

async function measureCampaign(): Promise<Result> {
  let id = ''
  return measure(
    () => ({
      async begin(url, secret) {
        id = await sendCampaign(createApi(url, secret))
      },
    }),
    () => id,
  )
}

/** The emails wait in the queue when the server starts. */
function measureSingle(): Promise<Result> {
  return measure((database) => {
    queueForEverybody(database)
    return { begin: async () => undefined }
  })
}

async function measure(
  prepare: (database: string) => Prepared,
  campaignId?: () => string,
): Promise<Result> {
  const dns = await startDnsServer()
  const bench = createBench(campaignConfiguration(receivers.port, dns.address))
  const secret = await makeProject(bench)
  verifyInsteadOfTrust(bench.database)
  const people: People = addPeople(bench.database, { count: recipients, ...LIST })
  for (const [name, records] of Object.entries(people.zone)) dns.set(name, records)
  if (campaignId === undefined) await acceptModel(bench, secret)
  const { begin } = prepare(bench.database)
  const server = await bench.serve()
  try {
    if (campaignId !== undefined) await waitForSearchIndex(bench.database)
    const load = await startLoad({
      ...{ url: server.url, secret, connections: 5, perSecond: 50, from: 0 },
      body: makeMessage('other@@@other.example'),
    })
    const begunAt = Date.now()
    await begin(server.url, secret)
    const api = createApi(server.url, secret)
    const path = `/campaigns/${campaignId?.() ?? ''}`
    const stopRequests = startRequests(
      api,
      campaignId === undefined
        ? {}
        : {
            stats: { route: `${path}/stats` },
            list: { route: '/campaigns' },
            recipients: { route: `${path}/recipients?outcome=delivered` },
            emails: { route: '/emails' },
            pause: { method: 'POST', route: `/campaigns/${await pausedCampaign(api)}/pause` },
            bounced: { route: `${path}/recipients?outcome=bounced`, ...rarely },
            'emails of an address': { route: '/emails?search=person77', ...rarely },
            'failed emails': { route: '/emails?status=FAILED,BOUNCED', ...rarely },
          },
    )
    const lastAt = await waitForEnds(bench.database, campaignId !== undefined)
    const requests = await stopRequests()
    const sends = await load.stop()
    const peakMegabytes = residentMegabytes(server.pid).peak
    return {
      perSecond: people.count / ((lastAt - begunAt) / 1_000),
      peakMegabytes,
      sends,
      requests,
    }
  } finally {
    await server.stop()
    bench.remove()
    await dns.stop()
  }
}

/** Its pause changes nothing, but takes the way of every pause. */
async function pausedCampaign(api: ReturnType<typeof createApi>): Promise<string> {
  const id = await sendCampaign(api, { maxPerHour: 1 })
  await api('POST', `/campaigns/${id}/pause`)
  return id
}

/** An email as POST /v1/send accepts it, which waits. */
async function acceptModel(bench: ReturnType<typeof createBench>, secret: string): Promise<void> {
  await bench.command('queue', 'hold', '--domain', 'model.example')
  const server = await bench.serve()
  await waitForSearchIndex(bench.database)
  const { subject, body, from } = makeCampaignBody()
  await createApi(server.url, secret)('POST', '/v1/send', {
    ...{ to: 'model@model.example', from, subject, body },
  })
  await server.stop()
  const database = new Database(bench.database)
  database.exec(`UPDATE emails SET state = 'queued', shelf = NULL, due_at = created_at, held_at = NULL,
    is_tracked = 1, content_class = 'MARKETING'; DELETE FROM holds`)
  database.close()
}

/** Waits until no email of the list waits. */
async function waitForEnds(file: string, isCampaign: boolean): Promise<number> {
  const database = new Database(file, { readonly: true })
  // By index: to count them all would keep a processor busy at a million.
  const isAny = (index: string, column: string) => `EXISTS (SELECT 1 FROM emails INDEXED BY ${index}
    WHERE ${column} IS NOT NULL AND recipient_domain <> 'other.example')`
  const isWaiting = database.prepare(
    `SELECT ${isAny('emails_ready', 'due_at')} OR ${isAny('emails_leased', 'lease_until')}`,
  )
  const isExpanded = database.prepare(
    'SELECT count(*) FROM campaign_progress WHERE expanded_at IS NOT NULL',
  )
  for (;;) {
    await sleep(500)
    if (isCampaign && Number(isExpanded.pluck().get()) === 0) continue
    if (isWaiting.pluck().get() === 1) continue
    database.close()
    return Date.now()
  }
}
