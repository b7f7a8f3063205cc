import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { ConfigError } from '../../src/config/problems.ts'
import { loadSecret, prepareDataDir } from '../../src/config/secret.ts'
import { makeFolder } from './config-folder.ts'

const isWindows = process.platform === 'win32'

function refuses(key: string, found: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof ConfigError)
    assert.equal(error.problems[0]?.key, key)
    assert.match(error.problems[0]?.found ?? '', found)
    return true
  }
}

describe('the data folder', () => {
  it('is created with mode 700, with its parent folders', async () => {
    const dataDir = path.join(makeFolder(), 'a', 'b')
    await prepareDataDir({ dataDir })
    assert.ok(statSync(dataDir).isDirectory())
    if (!isWindows) assert.equal(statSync(dataDir).mode & 0o777, 0o700)
    await prepareDataDir({ dataDir })
  })

  it('names its key when it cannot be created', async () => {
    const file = path.join(makeFolder(), 'file')
    writeFileSync(file, '')
    await assert.rejects(prepareDataDir({ dataDir: file }), refuses('data_dir', /EEXIST/))
    await assert.rejects(
      prepareDataDir({ dataDir: path.join(file, 'below') }),
      refuses('data_dir', /ENOTDIR|ENOENT/),
    )
  })
})

describe('the secret', () => {
  it('of another user is refused with the command that repairs it', {
    skip: isWindows,
  }, async () => {
    const dataDir = makeFolder()
    writeFileSync(path.join(dataDir, 'secret'), 'x', { mode: 0o000 })
    const isRoot = process.geteuid?.() === 0
    // Root can read every file. The second user has no name.
    for (const uid of isRoot ? [65_534, 10_001] : [undefined]) {
      if (uid !== undefined) process.seteuid?.(uid)
      try {
        await assert.rejects(loadSecret({ secret: null, dataDir }), (error) => {
          assert.ok(error instanceof ConfigError)
          assert.match(error.problems[0]?.found ?? '', /^EACCES/)
          const name = uid === 10_001 ? '10001' : '\\S+'
          const command = new RegExp(`chown -R ${name} \\S+pillarbox`)
          assert.match(error.problems[0]?.expected ?? '', command)
          return true
        })
      } finally {
        if (isRoot) process.seteuid?.(0)
      }
    }
  })

  it('comes from the configuration if it is set there, and no file is written', async () => {
    const dataDir = makeFolder()
    const secret = 'x'.repeat(40)
    assert.equal(await loadSecret({ dataDir, secret }), secret)
    assert.deepEqual(readdirSync(dataDir), [])
  })

  it('is generated once and stored with mode 0600', async () => {
    const dataDir = makeFolder()
    const made = await loadSecret({ dataDir, secret: null })
    assert.match(made, /^[0-9a-f]{64}$/)
    assert.equal(await loadSecret({ dataDir, secret: null }), made)
    const file = path.join(dataDir, 'secret')
    assert.equal(readFileSync(file, 'utf8'), `${made}\n`)
    if (!isWindows) assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(dataDir), ['secret'])
  })

  it('is the same for all processes that generate it at once', async () => {
    const dataDir = makeFolder()
    const loads = Array.from({ length: 20 }, () => loadSecret({ dataDir, secret: null }))
    const secrets = await Promise.all(loads)
    assert.equal(new Set(secrets).size, 1)
    assert.deepEqual(readdirSync(dataDir), ['secret'])
  })

  it('is refused and not replaced when its file is empty, too short or a folder', async () => {
    for (const text of ['', '\n', 'short\n']) {
      const dataDir = makeFolder()
      const file = path.join(dataDir, 'secret')
      writeFileSync(file, text)
      await assert.rejects(loadSecret({ dataDir, secret: null }), refuses('secret', /text/))
      assert.equal(readFileSync(file, 'utf8'), text)
    }
    const dataDir = path.join(makeFolder(), 'missing')
    await assert.rejects(loadSecret({ dataDir, secret: null }), refuses('secret', /ENOENT/))
  })
})
