/**
 * The programs beside the product that tests start as processes of their own, as bundles: each would
 * load some hundred files of TypeScript at each start.
 */
import { globSync } from 'node:fs'
import path from 'node:path'
import { CHILD_FOLDER } from '../test/child-program.ts'
import { bundleFrom } from './bundle.ts'
import { REQUIRE_BANNER } from './bundle-tests.ts'

/**
 * Writes the children into the folder of `bundleForTests`, at the places that their files have in the
 * repository; they share their modules, and find the threads and the assets there.
 */
export async function bundleChildren(folder: string): Promise<void> {
  await bundleFrom({
    entryPoints: globSync('test/**/*-child.ts'),
    outbase: '.',
    outdir: path.join(folder, CHILD_FOLDER),
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    splitting: true,
    external: ['better-sqlite3'],
    banner: { js: REQUIRE_BANNER },
    define: { 'import.meta.dirname': JSON.stringify(path.join(folder, 'src/config')) },
  })
}
