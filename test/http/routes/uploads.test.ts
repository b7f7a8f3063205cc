import assert from 'node:assert/strict'
import { once } from 'node:events'
import { globSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { beforeEach, describe, type TestContext, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import supertest from 'supertest'
import { deleteProject } from '../../../src/features/operation/erasure/end-project.ts'
import { makeKeys } from '../../../src/features/tenancy/accounts/projects/keys.ts'
import {
  insertProject,
  updateProject,
} from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { uploads } from '../../../src/store/schema/uploads.ts'
import { type TestProject, trustDomain } from '../../core.ts'
import { pngChunk, SECRET, withMetadata } from '../../features/tenancy/uploads/images/metadata.ts'
import { sample } from '../../features/tenancy/uploads/images/samples.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService()
const MB = 1024 * 1024

const folder = () => path.join(service.core.config.dataDir, 'uploads')
const filesOnDisk = () =>
  globSync('**', { cwd: folder(), withFileTypes: true }).filter((entry) => entry.isFile())
const rows = () => service.core.store.read.select().from(uploads)

beforeEach(async () => {
  await service.core.store.write((tx) => tx.delete(uploads))
  await rm(folder(), { recursive: true, force: true })
})

function upload(bytes: Buffer, { by = mine, name = 'logo.png', type = 'image/png' } = {}) {
  const options = { filename: name, contentType: type }
  return call('post', '/uploads/image', by).attach('image', bytes, options)
}

const get = (key: string) => supertest(service.url).get(`/uploads/${key}`)

/** A PNG of pixels that do not shrink, of about this size. */
function largePng(sizeBytes: number): Buffer {
  const png = sample('png')
  const width = 1000
  const height = Math.floor(sizeBytes / (3 * width + 1))
  const header = Buffer.from(png.subarray(16, 29))
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  const pixels = Buffer.alloc((3 * width + 1) * height)
  for (let row = 0; row < height; row += 1)
    pixels.fill(row, row * (3 * width + 1) + 1, (row + 1) * (3 * width + 1))
  const data = deflateSync(pixels, { level: 0 })
  return Buffer.concat([
    ...[png.subarray(0, 8), pngChunk('IHDR', header), pngChunk('IDAT', data), pngChunk('IEND', '')],
  ])
}

async function assertNothingLeft(what: string): Promise<void> {
  assert.deepEqual(await rows(), [], `${what}: rows`)
  assert.deepEqual(filesOnDisk(), [], `${what}: files`)
}

describe('POST /uploads/image', () => {
  test('an image is stored, in a file that only the server can read', async () => {
    const { status, body } = await upload(sample('png'))
    assert.equal(status, 200)
    const { key, ...rest } = body
    assert.match(key, /^[0-9a-f]{32}\.png$/)
    assert.deepEqual(rest, {
      url: `http://localhost:8080/uploads/${key}`,
      filename: 'logo.png',
      contentType: 'image/png',
      size: 98,
    })
    const [file] = filesOnDisk()
    assert.ok(file)
    assert.equal(statSync(path.join(file.parentPath, file.name)).mode & 0o777, 0o600)
    assert.equal(statSync(file.parentPath).mode & 0o777, 0o700)
    assert.equal(statSync(folder()).mode & 0o777, 0o700)
    const served = await get(key)
    assert.ok(sample('png').equals(served.body))
  })

  test('S18: the bytes decide on the type, not the name or the declared type; metadata go', async () => {
    const disguise = { name: 'page.html', type: 'text/html' }
    for (const name of ['jpeg', 'png', 'gif', 'transparentWebp'] as const) {
      const { body } = await upload(withMetadata(name), disguise)
      const served = await get(body.key)
      const type = `image/${name === 'transparentWebp' ? 'webp' : name}`
      assert.equal(body.contentType, type)
      assert.equal(served.headers['content-type'], type)
      assert.equal(served.body.includes(SECRET), false)
      assert.ok(sample(name).equals(served.body))
      assert.equal(body.size, served.body.length)
    }
  })

  test('the same image again is the same upload; in another project it has another URL', async () => {
    const first = await upload(sample('png'))
    const again = await upload(withMetadata('png'), { name: 'copy.png' })
    assert.equal(again.status, 200)
    assert.deepEqual(again.body, { ...first.body, filename: 'copy.png' })
    const listed = await call('get', '/uploads')
    assert.deepEqual(
      listed.body.data.map(({ filename }: { filename: string }) => filename),
      ['logo.png'],
    )
    const foreign = await upload(sample('png'), { by: other })
    assert.notEqual(foreign.body.key, first.body.key)
    assert.equal((await rows()).length, 2)
    assert.equal(filesOnDisk().length, 2)
  })

  test('an image whose file is missing is stored again, at the same URL', async () => {
    const first = await upload(sample('png'))
    await rm(folder(), { recursive: true })
    assert.equal((await get(first.body.key)).status, 404)
    const names = ['a.png', 'b.png']
    const answers = await Promise.all(names.map((name) => upload(sample('png'), { name })))
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body]),
      names.map((filename) => [200, { ...first.body, filename }]),
    )
    assert.ok(sample('png').equals((await get(first.body.key)).body))
    assert.deepEqual([(await rows()).length, filesOnDisk().length], [1, 1])
  })

  test('the same image many times at once is one row and one file', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => upload(sample('gif'))))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.equal(new Set(answers.map(({ body }) => body.key)).size, 1)
    assert.equal((await rows()).length, 1)
    assert.equal(filesOnDisk().length, 1)
    assert.equal((await get(answers[0]?.body.key)).status, 200)
  })

  test('the name of the file loses folders and control characters, and is cut', async () => {
    const { body } = await upload(sample('png'), { name: `../../etc/\u202elogo${'x'.repeat(300)}` })
    assert.match(body.filename, /^logox{251}$/)
  })

  test('the name of the file is cut between characters, and has one line', async () => {
    const name = `a\u2028b\u2029${'😀'.repeat(200)}.png`
    const { body } = await upload(sample('png'), { name })
    assert.equal(body.filename, `ab${'😀'.repeat(126)}`)
  })

  for (const name of ['../..', '..', '.', 'x/..', ' ', '\u202e']) {
    test(`a file that is called ${JSON.stringify(name)} is called by its type`, async () => {
      const { status, body } = await upload(sample('jpeg'), { name, type: 'image/jpeg' })
      assert.deepEqual([status, body.filename], [200, 'image.jpg'])
    })
  }

  test('S18: other files are refused, with the field', async () => {
    const wrong: [string, Buffer][] = [
      [
        'SVG',
        Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      ],
      ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
      [
        'a polyglot',
        Buffer.concat([Buffer.from('GIF89a/*'), Buffer.alloc(100), Buffer.from('*/=1')]),
      ],
      ['a cut image', sample('jpeg').subarray(0, 200)],
      ['an empty file', Buffer.alloc(0)],
    ]
    for (const [name, bytes] of wrong) {
      const { status, body } = await upload(bytes)
      assert.equal(status, 422, name)
      assert.equal(body.error.code, 'VALIDATION_ERROR')
      assert.equal(body.error.errors[0].field, 'image', name)
    }
    await assertNothingLeft('refused files')
  })

  test('a form without the file, or with another one, is refused', async () => {
    const missing = await call('post', '/uploads/image').field('name', 'x')
    const text = await call('post', '/uploads/image').field('image', 'x')
    const two = await upload(sample('png')).attach('image', sample('gif'), 'b.gif')
    for (const { status, body } of [missing, text, two]) {
      assert.equal(status, 422)
      assert.equal(body.error.errors[0].field, 'image')
    }
    assert.equal(missing.body.error.errors[0].message, 'Required')
    const noForm = await call('post', '/uploads/image').send({ image: 'x' })
    assert.equal(noForm.status, 400)
    assert.equal(noForm.body.error.code, 'VALIDATION_ERROR')
    await assertNothingLeft('refused forms')
  })

  test('10 MB are the limit', async () => {
    const large = largePng(10 * MB - 4_000)
    assert.ok(large.length <= 10 * MB && large.length > 9.9 * MB, String(large.length))
    const { status, body } = await upload(large)
    assert.equal(status, 200, JSON.stringify(body))
    const served = await get(body.key)
    assert.ok(large.equals(served.body))
    assert.equal(served.headers['content-length'], String(large.length))
    const trailing = Buffer.concat([large, Buffer.alloc(10 * MB - large.length + 1)])
    const refused = await upload(trailing)
    assert.equal(refused.status, 413)
    assert.equal(refused.body.error.code, 'PAYLOAD_TOO_LARGE')
    assert.equal((await rows()).length, 1)
  })

  test('a body of 10 GB is refused before it is sent, or soon after it begins', async (t) => {
    const announced = await open(t, `content-length: ${10_000 * MB}`)
    assert.match(String(await once(announced, 'data')), /^HTTP\/1.1 413 /)
    const endless = await open(t, 'transfer-encoding: chunked')
    const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const head = partHead()
    endless.write(`${head.length.toString(16)}\r\n${head}\r\n`)
    const answered = once(endless, 'data')
    let sentBytes = 0
    let isAnswered = false
    void answered.then(() => {
      isAnswered = true
    })
    while (!isAnswered && sentBytes < 100 * MB) {
      sentBytes += 0x10000
      if (!endless.write(piece)) await Promise.race([once(endless, 'drain'), answered])
    }
    assert.match(String(await answered), /^HTTP\/1.1 413 /)
    assert.ok(sentBytes < 40 * MB, `${sentBytes} bytes were taken`)
    await assertNothingLeft('huge bodies')
  })

  test('large uploads wait for memory instead of taking more', async (t) => {
    const length = `content-length: ${10 * MB}`
    const holders = await Promise.all(Array.from({ length: 6 }, () => open(t, length)))
    for (const holder of holders) assert.match(String(await once(holder, 'data')), / 100 Continue/)
    const waiting = await open(t, length)
    const taken: string[] = []
    waiting.on('data', (data) => taken.push(String(data)))
    for (let turn = 0; turn < 50; turn += 1) await call('get', '/uploads')
    assert.deepEqual(taken, [])
    const allowed = once(waiting, 'data')
    holders[0]?.destroy()
    assert.match(String(await allowed), / 100 Continue/)
  })

  test('a cut-off upload leaves nothing', async (t) => {
    const socket = await open(t, `content-length: ${MB}`)
    await once(socket, 'data')
    socket.write(partHead() + sample('png').toString('latin1'), 'latin1')
    socket.destroy()
    while (
      service.requests.every(({ errorMessage }) => errorMessage !== 'The request was cut off.')
    )
      await new Promise(setImmediate)
    await assertNothingLeft('a cut-off upload')
  })

  test('images beyond the limit of the project are refused; deleting makes space', async (t) => {
    setLimit(t, 400)
    const first = await upload(sample('png'))
    assert.equal((await upload(sample('gif'))).status, 200)
    const { status, body } = await upload(sample('jpeg'))
    assert.equal(status, 413)
    assert.equal(body.error.code, 'PAYLOAD_TOO_LARGE')
    assert.deepEqual(body.error.details, { maxBytes: 400, usedBytes: 374 })
    assert.equal(filesOnDisk().length, 2)
    assert.equal((await upload(sample('png'))).status, 200, 'an image that is there takes no space')
    assert.equal((await upload(sample('jpeg'), { by: other })).status, 200)
    await call('delete', `/uploads/${first.body.key}`)
    assert.equal((await upload(sample('lossyWebp'))).status, 200)
  })

  test('S37: images of all projects of an owner together have a limit of their own', async (t) => {
    setLimit(t, 0, 400)
    const { core } = service
    const { ownerId } = mine
    const keys = makeKeys()
    const at = core.now()
    const made = { name: 'Second', ownerId, keys, areKeysSandbox: false, at }
    const id = await core.store.write((tx) => insertProject(tx, made))
    const second = { ...mine, id, secret: keys.secretKey }
    assert.equal((await upload(sample('png'))).status, 200)
    assert.equal((await upload(sample('gif'), { by: second })).status, 200)
    const { status, body } = await upload(sample('jpeg'), { by: second })
    assert.deepEqual(
      [status, body.error.message, body.error.details],
      [
        413,
        "The images of the owner's projects take too much space (uploads.max_bytes_per_owner).",
        { maxBytes: 400, usedBytes: 374 },
      ],
    )
    assert.equal((await upload(sample('jpeg'), { by: other })).status, 200)
    await deleteProject(core, id)
    assert.equal((await upload(sample('lossyWebp'))).status, 200)
  })

  test('uploads at once do not exceed the limit of the project together', async (t) => {
    setLimit(t, 320)
    const names = ['png', 'indexedPng', 'lossyWebp', 'losslessWebp', 'transparentWebp'] as const
    const answers = await Promise.all(names.map((name) => upload(sample(name))))
    const stored = answers.filter(({ status }) => status === 200)
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 413])
    const used = stored.reduce((sum, { body }) => sum + body.size, 0)
    assert.ok(used <= 320, String(used))
    assert.equal(await usedBytes(mine), used)
  })

  test('on a nearly full disk nothing is stored, and images can be deleted', async (t) => {
    const { body } = await upload(sample('png'))
    const { disk } = service.core
    t.after(() => {
      disk.isLow = () => false
    })
    disk.isLow = () => true
    const refused = await upload(sample('gif'))
    assert.equal(refused.status, 503)
    assert.equal(refused.body.error.code, 'INSUFFICIENT_STORAGE')
    assert.equal((await get(body.key)).status, 200)
    assert.equal((await call('delete', `/uploads/${body.key}`)).status, 204)
  })

  test('a member uploads with a session', async () => {
    const { core } = service
    const user = await addUser(core)
    await addMember(core, { projectId: mine.id, userId: user.id, role: 'MEMBER' })
    const session = { Cookie: await logIn(core, user.id), 'X-Project-Id': mine.id }
    const made = await supertest(service.url)
      .post('/uploads/image')
      .set(session)
      .attach('image', sample('png'), 'a.png')
    assert.equal(made.status, 200)
    const foreign = await supertest(service.url)
      .post('/uploads/image')
      .set({ ...session, 'X-Project-Id': other.id })
      .attach('image', sample('gif'), 'a.gif')
    assert.equal(foreign.status, 403)
    assert.equal((await rows()).length, 1)
  })
})

describe('GET /uploads', () => {
  test('images are listed newest first, by cursor, those of the project only', async () => {
    const names = ['png', 'gif', 'jpeg'] as const
    const keys: string[] = []
    for (const [index, name] of names.entries()) {
      const { body } = await upload(sample(name))
      keys.unshift(body.key)
      await service.core.store.write((tx) =>
        tx
          .update(uploads)
          .set({ createdAt: 1_000 + index })
          .where(eq(uploads.name, body.key)),
      )
    }
    await upload(sample('png'), { by: other })
    const first = await call('get', '/uploads').query({ limit: 2 })
    assert.deepEqual(
      first.body.data.map(({ key }: { key: string }) => key),
      keys.slice(0, 2),
    )
    assert.equal(first.body.total, 3)
    assert.equal(first.body.hasMore, true)
    const { filename, width, height, createdAt } = first.body.data[0]
    assert.deepEqual(
      { filename, width, height, createdAt },
      { filename: 'logo.png', width: 8, height: 6, createdAt: '1970-01-01T00:00:01.002Z' },
    )
    for (const cursor of [first.body.cursor, keys[1]]) {
      const { body } = await call('get', '/uploads').query({ cursor })
      assert.deepEqual([body.data.length, body.data[0].key], [1, keys[2]])
      assert.deepEqual([body.cursor, body.hasMore, body.total], [null, false, 0])
    }
    const { body: theirs } = await call('get', '/uploads', other)
    assert.equal(theirs.data.length, 1)
  })

  test('a cursor of another list or project is refused', async () => {
    const { body } = await upload(sample('png'), { by: other })
    for (const cursor of ['x', '1_../x', body.key, `${'0'.repeat(32)}.png`]) {
      const refused = await call('get', '/uploads').query({ cursor })
      assert.equal(refused.status, 422, cursor)
      assert.equal(refused.body.error.errors[0].field, 'cursor')
    }
  })
})

describe('DELETE /uploads/:name', () => {
  test('the image and its file are gone, and can be uploaded again', async () => {
    const { body } = await upload(sample('png'))
    const path = `/uploads/${body.key}`
    const removed = await call('delete', path)
    assert.equal(removed.status, 204)
    assert.equal((await get(body.key)).status, 404)
    await assertNothingLeft('a deletion')
    assert.equal(await usedBytes(mine), 0)
    assert.equal((await call('delete', path)).status, 404)
    assert.deepEqual((await upload(sample('png'))).body, body)
    assert.equal((await get(body.key)).status, 200)
  })

  test("S20: another project's image is 404, and stays", async () => {
    const { body } = await upload(sample('png'), { by: other })
    const refused = await call('delete', `/uploads/${body.key}`)
    assert.equal(refused.status, 404)
    assert.equal(refused.body.error.code, 'RESOURCE_NOT_FOUND')
    assert.equal((await get(body.key)).status, 200)
  })

  test('deletions and uploads of one image at once end with a row and its file, or with neither', async () => {
    const { body } = await upload(sample('png'))
    const remove = () => call('delete', `/uploads/${body.key}`)
    const acts = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? remove() : upload(sample('png')),
    )
    for (const { status } of await Promise.all(acts)) assert.ok([200, 204, 404].includes(status))
    const left = await rows()
    assert.deepEqual(
      filesOnDisk().map(({ name }) => name),
      left.map(({ file }) => file),
    )
    assert.equal((await get(body.key)).status, left.length === 1 ? 200 : 404)
  })
})

describe('GET /uploads/:name', () => {
  test('S18: the image can be shown by any site, cached for a year, and can run nothing', async () => {
    const { body } = await upload(sample('png'))
    const { status, headers } = await get(body.key)
    assert.equal(status, 200)
    const expected = {
      'content-type': 'image/png',
      'content-length': '98',
      'content-disposition': 'inline',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'cross-origin',
      etag: `"${body.key}"`,
    }
    for (const [name, value] of Object.entries(expected)) assert.equal(headers[name], value, name)
    assert.equal(headers['access-control-allow-origin'], undefined)
    assert.equal(headers['set-cookie'], undefined)
  })

  test('HEAD has the headers, and a client that has the image gets 304', async () => {
    const { body } = await upload(largePng(200_000))
    const head = await supertest(service.url).head(`/uploads/${body.key}`)
    assert.equal(head.status, 200)
    assert.equal(head.headers['content-length'], String(body.size))
    assert.equal(head.headers['content-type'], 'image/png')
    const etag = head.headers.etag ?? ''
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await get(body.key).set('If-None-Match', known)
      assert.equal(answer.status, 304, known)
      assert.equal(answer.headers.etag, etag)
      assert.equal(answer.headers['content-length'], undefined)
    }
    assert.equal((await get(body.key).set('If-None-Match', '"x"')).status, 200)
  })

  test('S18: names that lead out of the folder are unknown', async () => {
    await upload(sample('png'))
    const [file] = filesOnDisk()
    const names = [
      ...[
        '..%2f..%2fsecret',
        '..%5csecret',
        '%2fetc%2fpasswd',
        'a%00.png',
        'image',
        file?.name ?? '',
      ],
      ...[`${'0'.repeat(32)}.png`, `${'0'.repeat(32)}.svg`, `${'0'.repeat(32)}.PNG`, '%2e%2e'],
    ]
    for (const name of names) {
      const { status } = await fetch(`${service.url}/uploads/${name}`)
      // The last name is resolved by the client, to the root of the server.
      assert.equal(status, name === '%2e%2e' ? 200 : 404, name)
    }
  })

  test('images of a disabled project are shown, those of a deleted one are not', async () => {
    const project = await service.makeProject('short-lived')
    const { body } = await upload(sample('png'), { by: project })
    await updateProject(service.core, project.id, { disable: 'MANUAL' })
    assert.equal((await get(body.key)).status, 200)
    await service.core.store.write((tx) =>
      tx.update(projects).set({ deletedAt: 1 }).where(eq(projects.id, project.id)),
    )
    assert.equal((await get(body.key)).status, 404)
    assert.equal(filesOnDisk().length, 1, 'the sweep removes it')
  })

  test('a file that somebody removed is 404, not an error of the server', async () => {
    const { body } = await upload(sample('png'))
    await rm(folder(), { recursive: true })
    const { status, headers } = await get(body.key)
    assert.equal(status, 404)
    assert.equal(headers['cache-control'], 'no-store')
    const head = await supertest(service.url).head(`/uploads/${body.key}`)
    assert.deepEqual([head.status, head.headers['cache-control']], [404, 'no-store'])
  })

  test('many readers at once get whole images', async () => {
    const large = largePng(MB)
    const { body } = await upload(large)
    const read = async () =>
      Buffer.from(await (await fetch(`${service.url}/uploads/${body.key}`)).arrayBuffer())
    const copies = await Promise.all(Array.from({ length: 15 }, read))
    assert.ok(copies.every((copy) => copy.equals(large)))
  })
})

test('a sent email shows an uploaded image', async () => {
  await trustDomain(service.core, mine.id, 'pictures.test')
  const { body: image } = await upload(sample('png'))
  const { body } = await call('post', '/v1/send').send({
    ...{ to: 'ann@dest.test', from: 'shop@pictures.test', subject: 'Look' },
    body: `<p>Look: <img src="${image.url}" alt="Logo" width="8"></p>`,
  })
  const { text } = await call('get', `/emails/${body.data.emails[0].email}/raw`)
    .buffer(true)
    .parse((response, done) => {
      let octets = ''
      response.setEncoding('latin1')
      response.on('data', (data) => (octets += data))
      response.on('end', () => done(null, octets))
    })
    .then(({ body }) => ({ text: String(body) }))
  const decoded = text.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  assert.ok(decoded.includes(`<img src="${image.url}" alt="Logo" width="8"`), decoded)
  const shown = await fetch(image.url.replace('http://localhost:8080', service.url))
  assert.equal(shown.status, 200)
})

function setLimit(t: TestContext, maxBytesPerProject: number, maxBytesPerOwner = 0): void {
  const { core } = service
  const { config } = core
  core.config = { ...config, uploads: { maxBytesPerProject, maxBytesPerOwner } }
  t.after(() => {
    core.config = config
  })
}

async function usedBytes({ id }: TestProject): Promise<number | undefined> {
  const project = await service.core.store.read
    .select({ used: projects.uploadBytes })
    .from(projects)
    .where(eq(projects.id, id))
    .get()
  return project?.used
}

/** A request whose body is still to be sent. */
async function open(t: TestContext, framing: string): Promise<Socket> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  const expectation = framing.startsWith('content-length') ? 'expect: 100-continue\r\n' : ''
  socket.write(
    `POST /uploads/image HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${mine.secret}\r\n` +
      `content-type: multipart/form-data; boundary=B\r\n${framing}\r\n${expectation}\r\n`,
  )
  return socket
}

function partHead(): string {
  return (
    '--B\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n' +
    'Content-Type: image/png\r\n\r\n'
  )
}
