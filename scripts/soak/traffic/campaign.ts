/** A campaign from its list to its end: import, create, send; some are paused or cancelled on the way. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createChoice } from '../../bench/seeding/random.ts'
import type { CampaignRecord, ImportRecord } from '../history/history.ts'
import type { Operation } from '../plan/operations.ts'
import { RECIPIENT_WEIGHTS } from '../plan/sites.ts'
import type { Handler, Traffic } from './traffic.ts'

const MIN_AUDIENCE = 20
const MORE_AUDIENCE = 40
const PAUSE_SHARE = 0.4
const CANCEL_SHARE = 0.2
const IMPORT_MS = 60_000
const POLL_MS = 300

export const campaign: Handler = async (traffic, operation) => {
  const imported = await importAudience(traffic, operation)
  if (imported === undefined) return
  const record = await createCampaign(traffic, operation, imported)
  if (record === undefined) return
  const { outcome } = await ask(traffic, record, 'send')
  record.send = outcome
  const [, lot, waitLot] = operation.lots
  await sleep(200 + waitLot * 1_500)
  if (lot < PAUSE_SHARE) await pauseAndResume(traffic, record, waitLot)
  if (lot > 1 - CANCEL_SHARE) record.cancel = (await ask(traffic, record, 'cancel')).outcome
}

/** Returns undefined unless the job is known to have ended. */
async function importAudience(
  { main, history }: Traffic,
  { number, lots }: Operation,
): Promise<ImportRecord | undefined> {
  let lot = lots[3]
  const nextDomain = createChoice(() => (lot = (lot * 97 + 0.137) % 1), RECIPIENT_WEIGHTS)
  const count = MIN_AUDIENCE + Math.floor(lots[0] * MORE_AUDIENCE)
  const emails = Array.from({ length: count }, (_, row) => `p${number}x${row}@${nextDomain()}`)
  const record: ImportRecord = { number, outcome: 'unknown', jobId: '', emails }
  history.imports.push(record)
  const rows = emails.map((email, row) => `${email},b${number},${row}`)
  const body = formOf(`email,batch,row\n${rows.join('\n')}\n`)
  const answer = await main.api.ask({ method: 'POST', path: '/contacts/import', body })
  record.outcome = answer.outcome
  if (answer.outcome !== 'acknowledged') return undefined
  record.jobId = (answer.body as { jobId: string }).jobId
  for (const endsAt = Date.now() + IMPORT_MS; Date.now() < endsAt; await sleep(POLL_MS)) {
    const shown = await main.api.ask({ method: 'GET', path: `/contacts/import/${record.jobId}` })
    if ((shown.body as { state?: string } | undefined)?.state === 'completed') return record
  }
  return undefined
}

async function createCampaign(
  { main, history }: Traffic,
  { number }: Operation,
  { emails: audience }: ImportRecord,
): Promise<CampaignRecord | undefined> {
  const filter = { field: 'data.batch', operator: 'equals', value: `b${number}` }
  const body = {
    name: `Campaign ${number}`,
    subject: `Soak ${number}`,
    body: '<p>Hello {{ row }}, <a href="https://shop.example.com/news">news</a>.</p>',
    from: 'news@example.test',
    audienceType: 'FILTERED',
    audienceCondition: { logic: 'AND', groups: [{ filters: [filter] }] },
  }
  // Without an answer there may be a draft, which sends nothing, and another one is made.
  const asked = { method: 'POST', path: '/campaigns', body, isRepeatable: true }
  const answer = await main.api.ask(asked)
  if (answer.outcome !== 'acknowledged') return undefined
  const { id } = (answer.body as { data: { id: string } }).data
  const record: CampaignRecord = { number, id, audience, send: 'unknown', cancel: undefined }
  history.campaigns.push(record)
  return record
}

async function pauseAndResume(traffic: Traffic, record: CampaignRecord, lot: number) {
  await ask(traffic, record, 'pause')
  await sleep(lot * 3_000)
  await ask(traffic, record, 'resume')
}

/** Repeated until there is an answer; 400 and 409 say that it was done before, or that all is sent. */
async function ask({ main }: Traffic, { id }: CampaignRecord, verb: string) {
  const path = `/campaigns/${id}/${verb}`
  const answer = await main.api.ask({
    ...{ method: 'POST', path, isRepeatable: true, expects: [400, 409] },
  })
  const isDone = answer.status === 400 || answer.status === 409
  return isDone ? { ...answer, outcome: 'unknown' as const } : answer
}

function formOf(csv: string): { contentType: string; bytes: Buffer } {
  const boundary = 'a-boundary-of-the-soak'
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="list.csv"\r\nContent-Type: text/csv\r\n\r\n`
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.from(`${head}${csv}\r\n--${boundary}--\r\n`),
  }
}
