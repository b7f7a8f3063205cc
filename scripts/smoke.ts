/**
 * Tests the packaged executable in an otherwise empty root (`bare-root.ts`): it creates a project,
 * serves, shows the guide, accepts a message over HTTP, delivers it to its sandbox with valid DKIM
 * signatures, and stops. The health check of the guide's Containerfile succeeds meanwhile, and then fails.
 *
 *   node scripts/smoke.ts [EXECUTABLE]
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { nodeVersion, outputFolder, targets } from '../build.config.ts'
import { healthCommand, readContainerfile } from '../test/docs/containerfile.ts'
import { type BareRoot, makeBareRoot } from './bare-root.ts'

type DnsRecord = { type: string; name: string; value: string }
type Project = { secret: string; records: DnsRecord[] }

const DEADLINE_MS = 20_000
const SETTINGS = `data_dir = 'state'
[http]
listen = '127.0.0.1:0'
[delivery]
mode = 'sandbox'
`

await smoke(path.resolve(process.argv[2] ?? builtExecutable()))

function builtExecutable(): string {
  const target = targets.find(({ name }) => name === `${process.platform}-${process.arch}`)
  return path.join(import.meta.dirname, '..', outputFolder, target?.output ?? '')
}

async function smoke(executable: string): Promise<void> {
  const root = makeBareRoot(executable, SETTINGS)
  console.log(root.description)
  try {
    checkVersion(root)
    checkCodeCaches(root)
    await checkSending(root, makeProject(root))
    console.log('smoke test passed')
  } finally {
    root.remove()
  }
}

function checkVersion(root: BareRoot): void {
  const rounds = Array.from({ length: 5 }, () => {
    const startedAt = performance.now()
    const { node } = JSON.parse(call(root, 'version', '--json').toString())
    assert.equal(node.replace(/^v/, ''), nodeVersion)
    return performance.now() - startedAt
  })
  console.log(`version: ${rounds.sort((a, b) => a - b)[2]?.toFixed(0)} ms (median of 5)`)
}

/** V8 takes the code caches. An executable that was built on another platform has none. */
function checkCodeCaches({ command: [file = '', ...first], env }: BareRoot): void {
  const isOfThisBuild = process.argv[2] === undefined
  for (const argv of [['version'], ['serve', '--help']]) {
    const options = { env: { ...env, NODE_DEBUG: 'code-cache' }, cwd: '/', timeout: DEADLINE_MS }
    const { status, stderr } = spawnSync(file, [...first, ...argv], options)
    assert.equal(status, 0, String(stderr))
    const [, refused] = /^CODE-CACHE \d+: refused: (\w+)/m.exec(String(stderr)) ?? []
    const isTaken = refused === 'false' || (refused === 'undefined' && !isOfThisBuild)
    assert.ok(isTaken, `the code cache of ${argv[0]}: refused: ${refused}`)
    console.log(`code cache of ${argv[0]}: refused: ${refused}`)
  }
}

function makeProject(root: BareRoot): Project {
  const json = (...argv: string[]) => JSON.parse(call(root, ...argv, '--json').toString())
  const owner = 'owner@example.test'
  json('user', 'create', '--email', owner)
  const { id, secret } = json('project', 'create', '--name', 'Smoke', '--owner', owner)
  json('domain', 'add', '--project', id, 'example.test')
  const { records } = json('domain', 'verify', 'example.test', '--trust')
  console.log('project created, its domain trusted')
  return { secret, records }
}

async function checkSending(root: BareRoot, { secret, records }: Project): Promise<void> {
  const startedAt = performance.now()
  const server = serve(root)
  try {
    const url = await readyUrl(server)
    if (process.platform === 'linux') {
      assert.equal(readFileSync(`/proc/${server.pid}/comm`, 'utf8'), 'pillarbox\n')
    }
    console.log(`serve: ready at ${url} after ${(performance.now() - startedAt).toFixed(0)} ms`)
    await checkGuide(url)
    await send(url, secret)
    await checkSignatures(await firstMessage(root), records)
    assert.equal(healthStatus(root), 0)
    server.kill('SIGTERM')
    const [status] = await once(server, 'exit', { signal: AbortSignal.timeout(DEADLINE_MS) })
    assert.equal(status, 0, 'serve ended with a failure')
    assert.equal(healthStatus(root), 1)
    console.log('serve: stopped, as the health check says')
  } finally {
    server.kill('SIGKILL')
  }
}

async function readyUrl(server: ChildProcess): Promise<string> {
  assert.ok(server.stdout)
  const lines = createInterface({ input: server.stdout })
  const [line] = await once(lines, 'line', { signal: AbortSignal.timeout(DEADLINE_MS) })
  const { event, http } = JSON.parse(line)
  assert.equal(event, 'ready')
  return http.startsWith('http') ? http : `http://${http}`
}

async function checkGuide(url: string): Promise<void> {
  for (const address of ['/docs/guide', '/docs/guide/contacts', '/docs/swagger-ui-bundle.js']) {
    const response = await fetch(new URL(address, url))
    assert.equal(response.status, 200, await response.text())
  }
  console.log('GET /docs/guide: 200')
}

async function send(url: string, secret: string): Promise<void> {
  const response = await fetch(new URL('/v1/send', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      to: 'reader@example.net',
      from: 'hello@example.test',
      subject: 'Grüße from the smoke test',
      body: '<p>It runs.</p>',
    }),
  })
  assert.equal(response.status, 200, await response.text())
  console.log('POST /v1/send: 200')
}

async function firstMessage(root: BareRoot): Promise<Buffer> {
  for (const giveUpAt = performance.now() + DEADLINE_MS; performance.now() < giveUpAt; ) {
    const [message] = JSON.parse(call(root, 'sandbox', 'list', '--json').toString())
    if (message !== undefined) return call(root, 'sandbox', 'show', message.id)
    await delay(50)
  }
  throw new Error('nothing arrived in the sandbox')
}

/** Takes the DNS records from `records`. */
async function checkSignatures(message: Buffer, records: DnsRecord[]): Promise<void> {
  const resolver = async (name: string, type: string): Promise<string[][]> => {
    const found = records.filter((record) => record.name === name && record.type === type)
    return found.map(({ value }) => [value])
  }
  const { results } = await dkimVerify(message, { resolver })
  assert.ok(results.length > 0, 'the message is not signed')
  for (const { algo, status } of results) {
    assert.equal(status.result, 'pass', status.comment)
    console.log(`DKIM ${algo}: pass`)
  }
}

function call({ command: [file = '', ...first], env }: BareRoot, ...argv: string[]): Buffer {
  return execFileSync(file, [...first, ...argv], { env, cwd: '/', timeout: DEADLINE_MS })
}

/** The exit status of the health check of a container. */
function healthStatus({ command: [file = '', ...first], env }: BareRoot): number | null {
  const [, ...argv] = healthCommand(readContainerfile())
  const options = { env, cwd: '/', timeout: DEADLINE_MS }
  return spawnSync(file, [...first, ...argv], options).status
}

function serve({ command: [file = '', ...first], env }: BareRoot): ChildProcess {
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  return spawn(file, [...first, 'serve'], { env, cwd: '/', stdio })
}
