import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../../../src/base/log.ts'
import {
  createDomainLists,
  MAX_DOMAINS,
  parseList,
  readShippedList,
} from '../../../../src/features/people/verification/domain-lists.ts'
import { parseDomain } from '../../../../src/formats/address/address.ts'

type Line = { msg: string; file: string; error?: string; domains?: number }

async function setUp(t: TestContext) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'pillarbox-lists-'))
  t.after(() => rm(dataDir, { recursive: true }))
  await mkdir(path.join(dataDir, 'lists'))
  const lines: Line[] = []
  const clock = { at: 1_000_000 }
  const out = { write: (line: string) => lines.push(JSON.parse(line)) }
  const log = createLog('info', out, { elapsed: () => clock.at })
  const lists = createDomainLists({ dataDir, now: () => clock.at, log })
  return {
    lines,
    /** The file as it is from now on, looked at as soon as that is due. */
    async put(name: string, text: string | Buffer) {
      await writeFile(path.join(dataDir, 'lists', `${name}.txt`), text)
      clock.at += 10_000
    },
    async remove(name: string) {
      await rm(path.join(dataDir, 'lists', `${name}.txt`), { recursive: true })
      clock.at += 10_000
    },
    folder: path.join(dataDir, 'lists'),
    clock,
    load: () => lists.load(),
  }
}

test('the shipped lists contain the best-known services', async (t) => {
  const { load } = await setUp(t)
  const known = await load()
  for (const domain of ['mailinator.com', 'yopmail.com', 'guerrillamail.com', '10minutemail.com']) {
    assert.ok(known.isDisposable(domain), domain)
    assert.ok(known.isDisposable(`team.${domain}`), `below ${domain}`)
    assert.ok(!known.isFree(domain), domain)
  }
  for (const domain of ['gmail.com', 'gmx.de', 'yahoo.co.uk', 'web.de', 'mail.ru', 'qq.com']) {
    assert.ok(known.isFree(domain), domain)
    assert.ok(!known.isFree(`mail.${domain}`), `below ${domain}`)
    assert.ok(!known.isDisposable(domain), domain)
    assert.ok(!known.isAlias(domain), domain)
  }
  for (const domain of [
    'mozmail.com',
    'ada.anonaddy.com',
    'duck.com',
    'privaterelay.appleid.com',
  ]) {
    assert.ok(known.isAlias(domain), domain)
    assert.ok(!known.isDisposable(domain), domain)
  }
  for (const domain of ['example.com', 'siemens.com', 'com', 'appleid.com', 'inator.com']) {
    assert.ok(!known.isDisposable(domain) && !known.isFree(domain) && !known.isAlias(domain))
  }
})

test('shipped lists have a plausible size and contain A-labels', () => {
  assert.ok(readShippedList('disposable').size > 5_000)
  assert.ok(readShippedList('free').size > 3_000)
  for (const domain of readShippedList('alias')) assert.equal(parseDomain(domain), domain)
})

test('a file replaces the shipped list of its name only', async (t) => {
  const { load, put, lines } = await setUp(t)
  const text = '\ufeff# mine\r\n Throwaway.Example  # why\r\n\r\nBÜCHER.example\r\n'
  await put('disposable', text)
  const known = await load()
  assert.ok(known.isDisposable('throwaway.example'))
  assert.ok(known.isDisposable('a.xn--bcher-kva.example'))
  assert.ok(!known.isDisposable('mailinator.com'))
  assert.ok(known.isFree('gmail.com'))
  assert.deepEqual(
    lines.map(({ msg, domains }) => ({ msg, domains })),
    [{ msg: 'a list of domains was read', domains: 2 }],
  )
})

test('a changed file is read again; without the file the shipped list returns', async (t) => {
  const { load, put, remove, clock, lines } = await setUp(t)
  assert.ok((await load()).isAlias('duck.com'))
  await put('alias', 'one.example\n')
  assert.deepEqual(await flags(load, ['duck.com', 'one.example']), [false, true])
  await put('alias', 'one.example\ntwo.example\n')
  assert.deepEqual(await flags(load, ['one.example', 'two.example']), [true, true])
  clock.at += 10_000
  await load()
  assert.equal(lines.length, 2)
  await remove('alias')
  assert.deepEqual(await flags(load, ['one.example', 'duck.com']), [false, true])
})

const flags = async (load: Awaited<ReturnType<typeof setUp>>['load'], domains: string[]) => {
  const known = await load()
  return domains.map((domain) => known.isAlias(domain))
}

test('files are checked every few seconds, not for every use', async (t) => {
  const { load, put, clock } = await setUp(t)
  await load()
  await put('free', 'mine.example\n')
  clock.at -= 9_000
  assert.ok(!(await load()).isFree('mine.example'))
  clock.at += 9_000
  assert.ok((await load()).isFree('mine.example'))
})

test('files are checked when the clock was set back, too', async (t) => {
  const { load, put, clock } = await setUp(t)
  await load()
  await put('free', 'mine.example\n')
  clock.at -= 3_600_000
  assert.ok((await load()).isFree('mine.example'))
})

test('an invalid file is logged once, and the previous list stays in use', async (t) => {
  const { load, put, clock, lines } = await setUp(t)
  await put('disposable', 'mine.example\n')
  await load()
  lines.length = 0
  const broken = [
    '',
    '# nothing but words\n\n',
    '<!DOCTYPE html><html>\n<p>404 Not Found</p>\n',
    Buffer.from([0, 255, 254, 1, 2, 3, 10, 200, 201]),
    `ok.example\n${'x'.repeat(300)}.example\n`,
  ]
  for (const [index, text] of broken.entries()) {
    await put('disposable', text)
    for (let times = 0; times < 3; times += 1) {
      const known = await load()
      assert.ok(known.isDisposable('mine.example'))
      assert.ok(!known.isDisposable('ok.example'))
      clock.at += 10_000
    }
    assert.equal(lines.length, index + 1)
    assert.equal(lines.at(-1)?.msg, 'a list of domains was rejected')
    assert.ok((lines.at(-1)?.file ?? '').endsWith('disposable.txt'))
    // Later than a minute the same is told again.
    clock.at += 60_000
  }
  await put('disposable', 'new.example\n')
  assert.ok((await load()).isDisposable('new.example'))
})

test('an invalid file or a folder at the first check leaves the shipped list', async (t) => {
  const { load, put, folder, lines } = await setUp(t)
  await put('disposable', 'no domain\n')
  await mkdir(path.join(folder, 'free.txt'))
  const known = await load()
  assert.ok(known.isDisposable('mailinator.com'))
  assert.ok(known.isFree('gmail.com'))
  assert.equal(lines.length, 2)
})

test('concurrent uses read the files once', async (t) => {
  const { load, put, lines } = await setUp(t)
  await put('disposable', 'mine.example\n')
  const answers = await Promise.all(Array.from({ length: 50 }, load))
  assert.ok(answers.every((known) => known.isDisposable('mine.example')))
  assert.equal(lines.length, 1)
})

test('one line in a hundred may be invalid, as in published lists', async () => {
  const many = Array.from({ length: 990 }, (_, index) => `d${index}.example`)
  const some = Array.from({ length: 9 }, (_, index) => `no domain ${index}`)
  assert.equal((await parseList([...many, ...some].join('\n'))).size, 990)
  const faults = [...some, 'x', 'y', 'z']
  await assert.rejects(
    parseList([...faults, ...many].join('\n')),
    /^Error: line 1 and 11 other lines/,
  )
})

test('S8: a list of more than a million domains is refused', async () => {
  assert.equal(MAX_DOMAINS, 1_000_000)
  assert.equal((await parseList('a.test\nb.test\na.test\n', 2)).size, 2)
  await assert.rejects(parseList('a.test\nb.test\nc.test', 2), /^Error: it has more than 2 domains/)
})

test('other work runs while a long list is read', async () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `d${index}.example`).join('\n')
  let turns = 0
  const count = () => {
    turns += 1
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  const { size } = await parseList(text)
  clearImmediate(timer)
  assert.equal(size, 20_000)
  assert.ok(turns >= 8, `${turns} turns`)
})
