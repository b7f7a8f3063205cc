/**
 * `npm run bench:cold`: measures `pillarbox version` (required: below 150 ms), the start of `serve`
 * with a million delivered emails (below 700 ms), and idle resident memory (below 200 MB; target 150).
 */
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fillDelivered } from './delivered-emails.ts'
import { makeProject } from './mail/sender.ts'
import { createBench, findExecutable, residentMegabytes } from './server.ts'
import { median, printTable, show } from './table.ts'

const ROUNDS = 5
const EMAILS = 1_000_000
const IDLE_MS = 5_000

const bench = createBench('[http]\nlisten = "127.0.0.1:0"\n[log]\nlevel = "warn"\n')
try {
  await makeProject(bench)
  fillDelivered(bench.database, EMAILS)
  const version: number[] = []
  const ready: number[] = []
  const idle: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    version.push(timeVersion())
    const server = await bench.serve()
    ready.push(server.readyMs)
    await sleep(IDLE_MS)
    idle.push(residentMegabytes(server.pid).now)
    await server.stop()
  }
  printTable([
    ['cold, medians of 5', 'found', 'wanted'],
    ['pillarbox version, ms', show(median(version)), '< 150'],
    ['serve ready, 1 M emails, ms', show(median(ready)), '< 700'],
    ['idle resident memory, MB', show(median(idle)), '< 200'],
  ])
} finally {
  bench.remove()
}

function timeVersion(): number {
  const startedAt = performance.now()
  execFileSync(findExecutable(), ['version'], { stdio: 'ignore' })
  return performance.now() - startedAt
}
