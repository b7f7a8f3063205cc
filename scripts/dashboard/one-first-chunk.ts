/**
 * A plugin of the bundler that keeps the first page in one file. The bundler makes a file for each set of parts that
 * share a module, so a page of many small modules would load as many small files. Each lazy part therefore begins
 * with an import of the frame: then all modules of the frame belong to the same set, that of all parts.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Plugin } from 'esbuild'

const LAZY_IMPORT = /\bimport\('(\.[^']+\.tsx)'\)/g

/** `source`: the folder of the dashboard. `frame`: the file below it that the first page runs. */
export function oneFirstChunk(source: string, frame: string): Plugin {
  const root = path.resolve(source)
  const lazy = listLazyFiles(root)
  return {
    name: 'one-first-chunk',
    setup({ onLoad }) {
      onLoad({ filter: /\.tsx$/ }, ({ path: file }) => {
        if (!lazy.has(file)) return undefined
        const relative = path.relative(path.dirname(file), path.join(root, frame))
        const specifier = relative.replaceAll(path.sep, '/')
        const name = specifier.startsWith('.') ? specifier : `./${specifier}`
        return { contents: `import '${name}'\n${readFileSync(file, 'utf8')}`, loader: 'tsx' }
      })
    },
  }
}

/** The absolute paths of all files that are loaded on demand. */
function listLazyFiles(root: string): Set<string> {
  const files = globSync('**/*.{ts,tsx}', { cwd: root }).map((file) => path.join(root, file))
  return new Set(
    files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(LAZY_IMPORT)].map(([, specifier = '']) =>
        path.join(path.dirname(file), specifier),
      ),
    ),
  )
}
