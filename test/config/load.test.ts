import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { loadConfig, loadSettings } from '../../src/config/load.ts'
import { ConfigError } from '../../src/config/problems.ts'
import { makeConfigFolder } from './config-folder.ts'

describe('the configuration', () => {
  it('needs no file: everything has a default', () => {
    const dir = makeConfigFolder()
    const config = dir.load(null)
    assert.equal(config.file, null)
    assert.equal(config.baseUrl, 'http://localhost:8080')
    assert.equal(config.dataDir, path.join(dir.folder, 'data'))
    assert.equal(config.database.file, path.join(dir.folder, 'data', 'pillarbox.db'))
    assert.deepEqual(config.http.listen, { host: '127.0.0.1', port: 8080, isTls: false })
    assert.equal(config.delivery.mode, 'sandbox')
    assert.equal(config.delivery.retrySchedule.length, 9)
    assert.deepEqual(config.delivery.giveUpAfter, {
      transactional: 86_400_000,
      workflow: 86_400_000,
      campaign: 259_200_000,
    })
    assert.deepEqual([config.secret, config.delivery.relay, config.billing], [null, null, null])
  })

  it('is the file of --config, else of the working folder, else of the system', () => {
    const { folder, file, options } = makeConfigFolder()
    const other = path.join(folder, 'other.toml')
    const system = path.join(folder, 'etc', 'pillarbox.toml')
    mkdirSync(path.dirname(system))
    writeFileSync(system, "data_dir = 'system'")
    assert.equal(loadConfig(options()).dataDir, path.join(folder, 'etc', 'system'))
    writeFileSync(file, "data_dir = 'working'")
    assert.equal(loadConfig(options()).dataDir, path.join(folder, 'working'))
    writeFileSync(other, "data_dir = 'other'")
    const chosen = loadConfig({ ...options(), configPath: 'other.toml' })
    assert.equal(chosen.dataDir, path.join(folder, 'other'))
    assert.equal(chosen.file, other)
  })

  it('is refused when its file cannot be read', () => {
    const { folder, options } = makeConfigFolder()
    const wrong = (configPath: string, found: RegExp) =>
      assert.throws(
        () => loadConfig({ ...options(), configPath }),
        (error) => {
          assert.ok(error instanceof ConfigError)
          assert.equal(error.problems[0]?.key, path.join(folder, configPath))
          assert.match(error.problems[0]?.found ?? '', found)
          return true
        },
      )
    wrong('missing.toml', /no such file/)
    mkdirSync(path.join(folder, 'folder.toml'))
    wrong('folder.toml', /EISDIR/)
    writeFileSync(path.join(folder, 'latin1.toml'), Buffer.from("data_dir = 'b\xfccher'", 'latin1'))
    wrong('latin1.toml', /not valid/)
  })

  it('is refused with line and column when it is not TOML', () => {
    const { file, problems } = makeConfigFolder()
    const [problem, ...others] = problems("[http]\nlisten = '127.0.0.1:8080\n")
    assert.deepEqual(others, [])
    assert.equal(problem?.key, file)
    assert.match(problem?.found ?? '', /^an error at line 2, column \d+: /)
    assert.equal(problem?.expected, 'TOML')
  })

  it('names every problem at once', () => {
    const { problems } = makeConfigFolder()
    const found = problems(
      "nonsense = 1\n[delivery]\nmode = 'pigeon'\nport = 0\n[http]\nlisten = 'x'\n",
      { PILLARBOX_LIMITS__EMAILS_PER_SECOND: 'many', PILLARBOX_WHAT: '1' },
    )
    assert.deepEqual(found.map(({ key }) => key).sort(), [
      'PILLARBOX_WHAT',
      'delivery.mode',
      'delivery.port',
      'http.listen',
      'limits.emails_per_second',
      'nonsense',
    ])
  })

  it('suggests an existing key for an unknown one', () => {
    const { problems } = makeConfigFolder()
    const cases: [string, string, string | undefined][] = [
      ['base_ur = "x"', 'base_ur', 'base_url'],
      ['[http]\nlisen = "x"', 'http.lisen', 'http.listen'],
      ['hostname = "mail.example.com"', 'hostname', 'delivery.hostname'],
      [
        '[delivery.relay]\npassword_flie = "x"',
        'delivery.relay.password_flie',
        'delivery.relay.password_file',
      ],
      ['[delivery.relay]\nusername_file = "x"', 'delivery.relay.username_file', undefined],
      ['[completely.different]\nthing = 1', 'completely', undefined],
      ['"delivery.mode" = "relay"', 'delivery.mode', 'delivery.mode'],
      ['__proto__ = 1', '__proto__', undefined],
      ['[imbound]\nlisten = []', 'imbound', 'inbound'],
      ['[imbound]', 'imbound', 'inbound'],
      ['[DNS]\nservers = []', 'DNS', 'dns'],
      ['[delivery.rellay]', 'delivery.rellay', 'delivery.relay'],
      ['port = 8080', 'port', 'http.listen'],
      ['[http]\nhost = "::"', 'http.host', 'http.listen'],
      ['[delivery]\nusername = "x"', 'delivery.username', 'delivery.relay.username'],
      ['[http]\nurl = "x"', 'http.url', 'base_url'],
      ['[database]\nhost = "x"', 'database.host', 'database.url'],
      ['[database]\npassword = "x"', 'database.password', 'database.url'],
      ['[accounts.oidc]\nid = "x"', 'accounts.oidc.id', undefined],
    ]
    for (const [toml, key, meant] of cases) {
      const [problem] = problems(toml)
      assert.equal(problem?.key, key, toml)
      if (meant !== undefined) assert.equal(problem.meant, meant)
    }
  })

  it('suggests a section only for what looks like it', () => {
    const { problems } = makeConfigFolder()
    const meantOf = (name: string) => problems(`[${name}]`)[0]?.meant
    const other = ['foo', 'env', 'smtp', 'tmp', 'dog', 'cache', 'login', 'imap', 'x']
    assert.deepEqual(
      other.map((name) => [name, meantOf(name)]),
      other.map((name) => [name, undefined]),
    )
    const typos = { htp: 'http', https: 'http', logs: 'log', limtis: 'limits', webhook: 'webhooks' }
    for (const [name, meant] of Object.entries(typos)) assert.equal(meantOf(name), meant)
  })

  it('refuses a value in place of a table', () => {
    const { problems } = makeConfigFolder()
    assert.deepEqual(
      problems('http = 1').map(({ key, found, expected }) => [key, found, expected]),
      [['http', '1', 'a table']],
    )
    assert.equal(problems('[[http]]\nlisten = "127.0.0.1:1"')[0]?.expected, 'a table')
    assert.equal(problems('[http.listen]\nx = 1')[0]?.key, 'http.listen')
  })

  it('is deeply frozen', () => {
    const config = makeConfigFolder().load("[dns]\nservers = ['127.0.0.1']")
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(isFrozen))
    assert.ok(isFrozen(config))
  })

  it('derives defaults from other settings', () => {
    const { load } = makeConfigFolder()
    const { delivery } = load("[delivery]\nhostname = 'Mail.Example.com.'")
    assert.equal(delivery.hostname, 'mail.example.com')
    assert.equal(delivery.returnPathDomain, 'bounce.mail.example.com')
    const ports = { starttls: 587, implicit: 465, none: 25 }
    for (const [tls, port] of Object.entries(ports)) {
      const { relay } = load(`[delivery.relay]\nhost = 'smtp.example.com'\ntls = '${tls}'`).delivery
      assert.equal(relay?.port, port)
    }
    assert.equal(load(null).delivery.hostname.length > 0, true)
  })

  it('gives a system without a usable host name the name localhost', (test) => {
    test.mock.method(os, 'hostname', () => 'not_a host')
    const { load } = makeConfigFolder()
    assert.equal(load(null).delivery.hostname, 'localhost')
    assert.equal(load(null).delivery.returnPathDomain, 'bounce.localhost')
  })

  it('writes the id of the mail project as ids are written', () => {
    const { load } = makeConfigFolder()
    const id = '0199A7C0-0000-7000-8000-00000000000A '
    const { accounts } = load(`[accounts]\nmail_project = "${id}"`)
    assert.equal(accounts.mailProject, '0199a7c0-0000-7000-8000-00000000000a')
  })

  it('writes base_url without a final slash', () => {
    const { load } = makeConfigFolder()
    assert.equal(load("base_url = 'https://Example.com/'").baseUrl, 'https://example.com')
    assert.equal(load("base_url = 'https://example.com/a/'").baseUrl, 'https://example.com/a')
    assert.equal(load("base_url = 'https://example.com//a//'").baseUrl, 'https://example.com//a')
  })
})

describe('the environment', () => {
  it('takes precedence over the file, key by key', () => {
    const { load } = makeConfigFolder()
    const config = load(
      "[delivery]\nmode = 'direct'\nhostname = 'mail.example.com'\nport = 2525\n",
      {
        PILLARBOX_DELIVERY__MODE: 'relay',
        PILLARBOX_DELIVERY__RELAY__HOST: 'smtp.example.com',
        PILLARBOX_DELIVERY__RETRY_SCHEDULE: '10s, 1m',
        PILLARBOX_HTTP__TRUSTED_PROXIES: '["10.0.0.0/8"]',
        PILLARBOX_DNS__SERVERS: '',
        PILLARBOX_ACCOUNTS__DISABLE_SIGNUPS: 'true',
        PATH: '/bin',
      },
    )
    assert.equal(config.delivery.mode, 'relay')
    assert.equal(config.delivery.port, 2525)
    assert.equal(config.delivery.relay?.host, 'smtp.example.com')
    assert.deepEqual(config.delivery.retrySchedule, [10_000, 60_000])
    assert.deepEqual(config.http.trustedProxies, ['10.0.0.0/8'])
    assert.deepEqual(config.dns.servers, [])
    assert.equal(config.accounts.disableSignups, true)
  })

  it('suggests an existing variable for an unknown one', () => {
    const { problems } = makeConfigFolder()
    const cases: [string, string | undefined][] = [
      ['PILLARBOX_DELIVERY_MODE', 'PILLARBOX_DELIVERY__MODE'],
      ['PILLARBOX_delivery__mode', 'PILLARBOX_DELIVERY__MODE'],
      ['PILLARBOX_HOSTNAME', 'PILLARBOX_DELIVERY__HOSTNAME'],
      ['PILLARBOX_HTTP__PORT', 'PILLARBOX_HTTP__LISTEN'],
      ['PILLARBOX_PORT', 'PILLARBOX_HTTP__LISTEN'],
      ['PILLARBOX_SUBMISSION__PORT', 'PILLARBOX_SUBMISSION__LISTEN'],
      ['PILLARBOX_URL', 'PILLARBOX_BASE_URL'],
      ['PILLARBOX_', undefined],
    ]
    for (const [name, meant] of cases) {
      const [problem] = problems(null, { [name]: 'relay' })
      assert.deepEqual([problem?.key, problem?.meant], [name, meant])
    }
  })

  it('may hold PILLARBOX_KEY, which is not a setting', () => {
    assert.deepEqual(makeConfigFolder().problems(null, { PILLARBOX_KEY: 'sk_x' }), [])
  })

  it('names the variable of an invalid value', () => {
    const [problem] = makeConfigFolder().problems(null, { PILLARBOX_DELIVERY__PORT: '' })
    assert.equal(problem?.where, 'PILLARBOX_DELIVERY__PORT')
    assert.equal(problem?.found, '""')
  })
})

describe('a secret', () => {
  const long = 'a'.repeat(40)

  it('can be in a file, without the final line end', () => {
    const { folder, load, options, file } = makeConfigFolder()
    writeFileSync(path.join(folder, 'kept'), `${long}\r\n`)
    assert.equal(load("secret_file = 'kept'").secret, long)
    assert.equal(load(null, { PILLARBOX_SECRET_FILE: 'kept' }).secret, long)
    writeFileSync(file, "secret_file = 'kept'")
    assert.equal(loadSettings(options()).origins.get('secret'), path.join(folder, 'kept'))
  })

  it('is refused when its file is unreadable, not a path, or has an invalid secret', () => {
    const { folder, problems } = makeConfigFolder()
    const relay = "[delivery.relay]\nhost = 'smtp.example.com'\nusername = 'u'\n"
    const [missing] = problems(`${relay}password_file = 'missing'`)
    assert.equal(missing?.key, 'delivery.relay.password_file')
    assert.match(missing?.found ?? '', /ENOENT/)
    assert.equal(problems('secret_file = 7')[0]?.key, 'secret_file')
    writeFileSync(path.join(folder, 'short'), 'short\n')
    const [short] = problems("secret_file = 'short'")
    assert.deepEqual([short?.key, short?.found], ['secret', 'a text of 5 characters'])
  })

  it('is refused when both keys are set', () => {
    const { folder, problems, load } = makeConfigFolder()
    writeFileSync(path.join(folder, 'kept'), long)
    const [problem] = problems(`secret = '${long}'\nsecret_file = 'kept'`)
    assert.deepEqual([problem?.key, problem?.found], ['secret', 'secret and secret_file'])
    const env = { PILLARBOX_SECRET: long, PILLARBOX_SECRET_FILE: 'kept' }
    assert.equal(problems(null, env)[0]?.key, 'secret')
    const other = 'b'.repeat(40)
    assert.equal(load("secret_file = 'kept'", { PILLARBOX_SECRET: other }).secret, other)
    rmSync(path.join(folder, 'kept'))
  })
})
