import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { buildDashboard } from '../../scripts/dashboard/build.ts'
import { ASSET_SOURCES } from '../../src/config/assets.ts'
import type { DashboardManifest } from '../../src/http/dashboard/files.ts'

const folder = path.resolve(ASSET_SOURCES['dashboard/'] ?? '')
const read = (name: string) => readFileSync(path.join(folder, name))

it('`npm start` builds the dashboard, and no script depends on one before or after it', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  assert.match(scripts.start, /^node scripts\/dashboard\.ts && /)
  // `.npmrc` has ignore-scripts, with which npm runs none of these.
  const names = Object.keys(scripts)
  assert.deepEqual(
    names.filter(
      (name) => names.includes(name.replace(/^(?:pre|post)/, '')) && /^(?:pre|post)/.test(name),
    ),
    [],
  )
})

describe('the build of the dashboard', () => {
  let manifest: DashboardManifest
  before(async () => {
    await buildDashboard()
    manifest = JSON.parse(read('manifest.json').toString())
  })

  it('is kept while nothing changes', async () => {
    assert.equal((await buildDashboard()).isNew, false)
  })

  it('has two smaller twins of each file, with the same content', () => {
    assert.ok(manifest.files.length > 5)
    for (const name of manifest.files) {
      const bytes = read(name)
      assert.deepEqual(brotliDecompressSync(read(`${name}.br`)), bytes)
      assert.deepEqual(gunzipSync(read(`${name}.gz`)), bytes)
    }
  })

  it('names in its page files that exist, and no other origin', () => {
    const page = read('index.html').toString()
    const named = [...page.matchAll(/(?:src|href)="\{\{base\}\}\/app\/assets\/([^"]+)"/g)].map(
      ([, name = '']) => name,
    )
    assert.equal(named.length, 3)
    const ofScreens = manifest.screens.flatMap((screen) => screen.files)
    for (const name of [...named, ...ofScreens]) assert.ok(manifest.files.includes(name), name)
    assert.doesNotMatch(page, /https?:|<style|style=|\son\w+=/)
  })

  it('tells its page the files of each screen, as data that nothing runs', () => {
    const [, data = ''] =
      /<script type="application\/json" id="screens">(.*)<\/script>/.exec(
        read('index.html').toString(),
      ) ?? []
    const screens = manifest.screens.map(({ path: at, files }) => [at, files])
    assert.deepEqual(JSON.parse(data), Object.fromEntries(screens))
    assert.doesNotMatch(data, /[<&]/)
  })

  it('knows the files of each screen that has an address', () => {
    const source = readFileSync('src/dashboard/app.tsx', 'utf8')
    const addresses = [...source.matchAll(/^ {2}'(\/.+)': \(\) => import\(/gm)].map(([, at]) => at)
    assert.ok(addresses.length > 8)
    assert.deepEqual(manifest.screens.map(({ path: at }) => at).sort(), addresses.sort())
  })

  it('has no file that no page names and no script imports', () => {
    const texts = manifest.files.map((name) => read(name).toString())
    const used = [read('index.html').toString(), ...texts].join()
    assert.deepEqual(
      manifest.files.filter((name) => !used.includes(name)),
      [],
    )
  })

  it('passes on the licence of each package in it', () => {
    const text = read('licences.txt').toString()
    for (const name of [
      'preact',
      'preact-iso',
      '@preact/signals',
      '@tanstack/query-core',
      '@leeoniya/ufuzzy',
    ]) {
      assert.match(text, new RegExp(`^${name} \\d`, 'm'))
    }
    assert.ok((text.match(/permission notice/g) ?? []).length >= 5)
  })

  it('leaves no other file in its folder', () => {
    const known = manifest.files.flatMap((name) => [name, `${name}.br`, `${name}.gz`])
    const pages = ['index.html', 'frame.html', 'licences.txt', 'manifest.json']
    assert.deepEqual(readdirSync(folder).sort(), [...known, ...pages].sort())
  })
})
