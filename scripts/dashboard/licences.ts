/** The licences of the packages in the bundles of the dashboard, which their authors want to be passed on. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Metafile } from 'esbuild'

/** @throws Error if a package has no file with its licence */
export async function collectLicences({ inputs }: Pick<Metafile, 'inputs'>): Promise<string> {
  const folders = new Set(Object.keys(inputs).flatMap((file) => packageFolder(file) ?? []))
  const texts = await Promise.all([...folders].sort().map(describePackage))
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

/** `node_modules/@preact/signals/dist/a.mjs` -> `node_modules/@preact/signals`; undefined for own files. */
function packageFolder(file: string): string | undefined {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.replaceAll(path.sep, '/'))?.[1]
}

async function describePackage(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(
    await readFile(path.join(folder, 'package.json'), 'utf8'),
  )
  const files = await readdir(folder)
  const file = files.find((each) => /^licen[cs]e(\.\w+)?$/i.test(each))
  const head = `${name} ${version}, ${license}\n`
  if (file === undefined) {
    if (license === undefined) throw new Error(`${folder} names no licence`)
    return head
  }
  return `${head}\n${(await readFile(path.join(folder, file), 'utf8')).trim()}\n`
}
