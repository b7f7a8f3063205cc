/**
 * The pages of the dashboard. The server puts the path of `base_url` in place of `BASE`, because a proxy may
 * serve the program below a path. The scripts find that path in their own address.
 */
import { BASE, type DashboardManifest, PRELOADS } from '../../src/http/dashboard/files.ts'

type Index = { main: string; theme: string; app: string } & Pick<DashboardManifest, 'screens'>

/**
 * The server puts the scripts of the screen in place of `PRELOADS`. Those of all screens are data of the page
 * (`screen-files.ts` of the dashboard reads them), which no policy forbids because nothing runs it.
 */
export function indexPage({ main, theme, app, screens }: Index): string {
  const asset = (name: string) => `${BASE}/app/assets/${name}`
  const files = Object.fromEntries(screens.map(({ path, files: names }) => [path, names]))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>Pillarbox</title>
<link rel="icon" href="data:,">
<script src="${asset(theme)}"></script>
<link rel="stylesheet" href="${asset(app)}">
${PRELOADS}<script type="module" src="${asset(main)}"></script>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="screens">${JSON.stringify(files)}</script>
<noscript><p>This page needs JavaScript. The API and the command line work without it.</p></noscript>
</body>
</html>
`
}

/** The page that shows one mail. Its script is part of the page, so that the policy allows that script alone. */
export function framePage(script: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>Mail</title>
<script>${script}</script>
`
}
