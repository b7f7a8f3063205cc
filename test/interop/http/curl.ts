/** The API as a stranger with curl sees it: against a server of its own, or one that runs already. */
import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '../../e2e/program.ts'
import { type Installation, install, makeProject } from '../../e2e/server.ts'
import { type DnsZone, startDnsServer } from '../../fakes/dns-server.ts'

const run = promisify(execFile)

export const isCurlInstalled = spawnSync('curl', ['--version']).status === 0

// biome-ignore lint/suspicious/noExplicitAny: what a stranger sees has no types
export type Answer = { status: number; headers: string; text: string; body: any }

type CurlOptions = {
  key?: string
  body?: unknown
  /** `name=value` or `name=@file`, as curl's -F. */
  form?: readonly string[]
  headers?: readonly string[]
}

export type Client = {
  /** `route` begins with a slash. */
  curl(method: string, route: string, options?: CurlOptions): Promise<Answer>
  /** A key of the project: public, and secret, which `curl` uses where none is given. */
  publicKey: string
  /** The secret key of another project on the same server. */
  strangerKey: string
  folder: string
  /** Of this run: what it makes carries it, so that it disturbs nothing that was there. */
  tag: string
  address(name: string): string
  /** The job's status once it has ended. */
  untilDone(route: string): Promise<Answer>
}

const zone: DnsZone = {
  'good.test': {
    NS: ['ns.good.test'],
    MX: [[10, 'mx.good.test']],
    A: ['192.0.2.1'],
  },
  'mx.good.test': { A: ['192.0.2.2'] },
  'gmail.com': { NS: ['ns.gmail.com'], MX: [[5, 'mx.good.test']], A: ['192.0.2.3'] },
  'mailinator.com': { MX: [[5, 'mx.good.test']] },
  'duck.com': { MX: [[5, 'mx.good.test']] },
  'nomail.test': { A: ['192.0.2.4'] },
  'broken.test': 'SERVFAIL',
}

/**
 * A server of its own with two projects. What is tried works on a database of any size too:
 * PEOPLE_DATA names a data folder to copy, PEOPLE_PROJECT a project in it.
 */
export async function startClient(t: Pick<TestContext, 'after'>): Promise<Client> {
  const dns = await startDnsServer(zone)
  t.after(() => dns.stop())
  const installation = await install(
    t,
    `
data_dir = "data"
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "sandbox"
[dns]
servers = ["${dns.address}"]
[limits]
api_requests_per_minute = 0
[log]
level = "error"
`,
  )
  const keys = await prepareKeys(installation)
  const { url } = await installation.serve()
  const tag = `t${randomBytes(4).toString('hex')}`
  const curl: Client['curl'] = async (method, route, options = {}) =>
    ask(new URL(route, url).href, method, { key: keys.secret, ...options })
  return {
    curl,
    publicKey: keys.public,
    strangerKey: keys.otherProject,
    folder: installation.folder,
    tag,
    address: (name) => `${name}.${tag}@example.org`,
    untilDone: (route) =>
      eventually(async () => {
        const answer = await curl('GET', route)
        return ['completed', 'failed'].includes(answer.body.state) ? answer : undefined
      }),
  }
}

type Keys = { public: string; secret: string; otherProject: string }

async function prepareKeys(installation: Installation): Promise<Keys> {
  const { PEOPLE_DATA: data, PEOPLE_PROJECT: project } = process.env
  if (data !== undefined) {
    await run('cp', ['-r', '--reflink=auto', data, path.join(installation.folder, 'data')])
  }
  const own = project === undefined ? (await makeProject(installation)).id : project
  const keys = (await installation.command('project', 'keys', own, '--regenerate')) as Keys
  const email = `${randomBytes(4).toString('hex')}@example.test`
  await installation.command('user', 'create', '--email', email)
  const otherProject = (await installation.command(
    ...['project', 'create', '--name', 'Stranger', '--owner', email],
  )) as Keys
  return { public: keys.public, secret: keys.secret, otherProject: otherProject.secret }
}

async function ask(url: string, method: string, options: CurlOptions): Promise<Answer> {
  const { key = '', body, form = [], headers = [] } = options
  const args = ['-sS', '-i', '-X', method, url, '-H', `Authorization: Bearer ${key}`]
  if (body !== undefined) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    args.push('-H', 'Content-Type: application/json', '--data-binary', text)
  }
  for (const field of form) args.push('-F', field)
  for (const header of headers) args.push('-H', header)
  const { stdout } = await run('curl', args, { maxBuffer: 64 * 1024 * 1024 })
  return readAnswer(stdout)
}

function readAnswer(printed: string): Answer {
  const text = printed.replace(/^HTTP\/1\.1 100 [\s\S]*?\r\n\r\n/, '')
  const end = text.indexOf('\r\n\r\n')
  const headers = text.slice(0, end)
  const body = text.slice(end + 4)
  const isJson = /^content-type: application\/json/im.test(headers)
  return {
    status: Number(/^HTTP\/\S+ (\d+)/.exec(headers)?.[1]),
    headers,
    text: body,
    body: isJson && body !== '' ? JSON.parse(body) : undefined,
  }
}
