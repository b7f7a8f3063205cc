import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { nativeBindingPath, unpackAddon } from '../../src/config/addon.ts'
import { assetSource, listAssets, readAsset } from '../../src/config/assets.ts'
import { productVersion } from '../../src/config/version.ts'
import { THREAD_SOURCES } from '../../src/threads/start.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'pillarbox-assets-'))
after(() => rmSync(folder, { recursive: true }))

describe('assets from source', () => {
  it('list the migrations by the names that read them', () => {
    const names = listAssets('migrations/sqlite')
    assert.ok(names.length > 0)
    assert.deepEqual(names, names.toSorted())
    for (const name of names) {
      assert.match(name, /^migrations\/sqlite\/\d{4}_\w+\.sql$/)
      assert.ok(readAsset(name).length > 0)
    }
  })

  it('find the files of the API page', () => {
    for (const name of ['docs/swagger-ui.css', 'docs/swagger-ui-bundle.js']) {
      assert.ok(readAsset(name).length > 100_000)
    }
  })

  it('refuse a name that does not exist', () => {
    assert.throws(() => readAsset('migrations/sqlite/none.sql'), { code: 'ENOENT' })
  })

  it('know the version of the product', () => {
    assert.equal(productVersion(), packageJson.version)
  })

  it('load the addon from its package', () => {
    assert.equal(nativeBindingPath(folder), undefined)
    assert.ok(!existsSync(path.join(folder, 'runtime')))
  })
})

describe('worker threads from source', () => {
  it('have an entry file each', () => {
    for (const file of Object.values(THREAD_SOURCES)) assert.ok(existsSync(assetSource(file)), file)
  })
})

describe('unpackAddon', () => {
  const addon = Buffer.from('an addon')

  it('writes the addon once, readable by its owner only', () => {
    const file = unpackAddon(folder, addon)
    assert.equal(path.relative(folder, file).split(path.sep)[0], 'runtime')
    assert.deepEqual(readFileSync(file), addon)
    const before = statSync(file)
    assert.equal(unpackAddon(folder, addon), file)
    assert.equal(statSync(file).ino, before.ino)
    assert.deepEqual(readdirSync(path.dirname(file)), ['better_sqlite3.node'])
    if (process.platform === 'win32') return
    assert.equal(before.mode & 0o777, 0o600)
    assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700)
    assert.equal(statSync(path.join(folder, 'runtime')).mode & 0o777, 0o700)
  })

  it('replaces an addon that was changed or truncated', () => {
    for (const wrong of ['another', 'an add', '']) {
      const file = unpackAddon(folder, addon)
      writeFileSync(file, wrong)
      assert.equal(unpackAddon(folder, addon), file)
      assert.deepEqual(readFileSync(file), addon)
    }
  })

  it('keeps another version beside it', () => {
    const file = unpackAddon(folder, addon)
    const newer = unpackAddon(folder, Buffer.from('a newer addon'))
    assert.notEqual(path.dirname(newer), path.dirname(file))
    assert.deepEqual(readFileSync(file), addon)
  })
})
