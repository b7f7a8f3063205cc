/**
 * `npm run bench:import`: imports a CSV of 5 MB with 50,000 rows, half of them existing contacts;
 * exports a million contacts; unsubscribes a thousand contacts by id and about 100,000 by a query.
 * Another client sends 50 emails per second meanwhile. Required: the import in 10 s. Arguments after
 * `--` select rows by the beginning of their names.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from './api.ts'
import { type SeededServer, withSeededServer } from './seeded-server.ts'
import { forgetPeak, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'

type Done = { rows: number; ms: number; note?: string }
type Status = { state: string; result: Record<string, unknown> | null; failedReason: string | null }

const ROWS = 50_000
const POLL_MS = 20

await withSeededServer(async (seeded) => {
  const big = seeded.api('big')
  const [csv, other] = [makeCsv(seeded, 3), makeCsv(seeded, 17)]
  const columns = ['rows', 'seconds', 'wanted', 'rows/s', 'peak MB', 'sends p99 ms', '']
  const works: [string, string, () => Promise<Done>][] = [
    ['import of 5 MB', '< 10', () => importFile(big, csv)],
    ['import of another 5 MB', '< 10', () => importFile(big, other)],
    ['import of the same', '', () => importFile(big, other)],
    ['export of all', '', () => exportAll(big)],
    ['1,000 ids unsubscribed', '', () => unsubscribeIds(big)],
    ['query unsubscribed', '', () => unsubscribeQuery(big)],
  ]
  const rows: string[][] = []
  for (const [name, wanted, work] of works) {
    if (!isChosen(name)) continue
    rows.push(await measure(seeded, { name, wanted, work }))
  }
  printTable([['beside 50 sends per second', ...columns], ...rows])
})

function isChosen(name: string): boolean {
  const chosen = process.argv.slice(2).filter((each) => !each.startsWith('--'))
  return chosen.length === 0 || chosen.some((beginning) => name.startsWith(beginning))
}

type Work = { name: string; wanted: string; work: () => Promise<Done> }

/** A row of the result table. */
async function measure(seeded: SeededServer, { name, wanted, work }: Work): Promise<string[]> {
  process.stderr.write(`${name}\n`)
  forgetPeak(seeded.server.pid)
  const { result, sends } = await seeded.besideSends(work)
  const { rows, ms, note = '' } = result
  const peak = residentMegabytes(seeded.server.pid).peak
  const speed = show((rows * 1_000) / ms)
  const figures = [show(peak), show(sends.p99Ms, 1), note]
  return [name, String(rows), show(ms / 1_000, 2), wanted, speed, ...figures]
}

/** About 100 bytes per row; every other row is an existing contact with different data. */
function makeCsv({ query }: SeededServer, part: number): Buffer {
  const known = query((database) =>
    database
      .prepare(
        `select email from contacts where number % 38 = ?
          and project_id = (select id from projects where name = 'big') limit ?`,
      )
      .pluck()
      .all(part, ROWS / 2),
  ) as string[]
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const email = row % 2 === 0 ? known[row / 2] : `imported.person${part}.${row}@example.org`
    const day = `2026-0${1 + (row % 9)}-1${row % 10}`
    const name = `"Person ${row}, called ""P${row}"""`
    return [
      email,
      row % 7 > 0,
      name,
      ['free', 'pro'][row % 2],
      20 + (row % 60),
      'Berlin',
      day,
    ].join()
  })
  return Buffer.from(`email,subscribed,name,plan,age,city,signedUp\n${lines.join('\n')}\n`)
}

async function importFile(big: Api, content: Buffer): Promise<Done> {
  const startedAt = performance.now()
  const { status, body } = await big.upload('/contacts/import', { name: 'people.csv', content })
  if (status !== 202) throw new Error(`import: ${status} ${JSON.stringify(body)}`)
  const uploadedAt = performance.now()
  const result = await finish(big, `/contacts/import/${(body as { jobId: string }).jobId}`)
  const { totalRows, createdCount, updatedCount, failureCount } = result
  const note = `${createdCount} new, ${updatedCount} known, ${failureCount} failed, upload ${show(uploadedAt - startedAt)} ms`
  return { rows: Number(totalRows), ms: performance.now() - startedAt, note }
}

async function exportAll(big: Api): Promise<Done> {
  const { status, bytes, lines, ms } = await big.drain('/contacts/export')
  if (status !== 200) throw new Error(`export: ${status}`)
  return { rows: lines - 1, ms, note: `${show(bytes / 1_048_576)} MB` }
}

async function unsubscribeIds(big: Api): Promise<Done> {
  const contactIds: string[] = []
  let next = ''
  while (contactIds.length < 1_000) {
    const page = await big.ask('GET', `/contacts?limit=100&subscribed=true${next}`)
    const { data, cursor } = page as { data: { id: string }[]; cursor: string }
    contactIds.push(...data.map(({ id }) => id))
    next = `&cursor=${encodeURIComponent(cursor)}`
  }
  return unsubscribe(big, { mode: 'ids', contactIds })
}

/** About 70,000 of 90,000 contacts at that provider are subscribed. */
function unsubscribeQuery(big: Api): Promise<Done> {
  return unsubscribe(big, { mode: 'query', filter: { search: '@outlook.com' } })
}

async function unsubscribe(big: Api, body: object): Promise<Done> {
  const startedAt = performance.now()
  const { jobId } = (await big.ask('POST', '/contacts/bulk-unsubscribe', body)) as { jobId: string }
  const result = await finish(big, `/contacts/bulk/${jobId}`)
  const { totalRequested, successCount, unchangedCount } = result
  const note = `${successCount} changed, ${unchangedCount} as they were`
  return { rows: Number(totalRequested), ms: performance.now() - startedAt, note }
}

/** Waits for the result of a job. */
async function finish(big: Api, path: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { state, result, failedReason } = (await big.ask('GET', path)) as Status
    if (state === 'failed') throw new Error(`${path}: ${failedReason}`)
    if (state === 'completed' && result !== null) return result
    await sleep(POLL_MS)
  }
}
