/**
 * The style of the guide, added to the style sheet of the hosted pages: the list of pages, wide text, tables,
 * code. In a window of less than 60 em the list is folded above the page; of less than 40 em, each row of a
 * table is a block.
 */
export const GUIDE_STYLE = `
main { max-width: 56rem; min-width: 0; }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.3125rem; }
h3 { margin: 1.5rem 0 .5rem; font-size: 1.0625rem; }
ul, ol { margin: 0 0 1rem; padding-left: 1.5rem; }
table { display: block; overflow-x: auto; margin: 0 0 1.25rem; border-collapse: collapse; overflow-wrap: normal; }
th, td { padding: .4375rem 1rem .4375rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
code { padding: .1em .3em; border-radius: .25rem; background: var(--tint); font: .9em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { overflow-x: auto; margin: 0 0 1.25rem; padding: .875rem 1rem; border-radius: .625rem; background: var(--ground); }
pre code { padding: 0; background: none; white-space: pre-wrap; overflow-wrap: anywhere; }
pre code.language-text { white-space: pre; overflow-wrap: normal; }
.code { position: relative; }
.code pre { padding-top: 2.75rem; }
button.copy { position: absolute; top: 0; right: 0; width: auto; min-width: 4.5rem; min-height: 2.75rem; padding: .25rem .875rem; border: 0; background: transparent; color: var(--accent); font-size: .9375rem; }
summary { display: flex; align-items: center; min-height: 2.75rem; font-weight: 600; color: var(--accent); cursor: pointer; }
summary::before { content: '+'; width: 1.25rem; }
[open] > summary::before { content: '-'; }
.pages h2 { margin: 1.25rem 0 0; font-size: .9375rem; color: var(--muted); }
.pages ul, .contents ul { display: block; margin: 0; }
.pages nav, .contents nav { margin: 0; border: 0; }
.pages a, .contents a { display: flex; padding: 0 .625rem; border-radius: .375rem; text-decoration: none; }
.pages a:hover, .contents a:hover { text-decoration: underline; }
.pages a[aria-current] { background: var(--tint); font-weight: 600; }
.contents { margin: 0 0 1rem; border-bottom: 1px solid var(--line); }
nav.pages { display: none; margin: 0; border: 0; }
details.pages { max-width: 56rem; margin: 0 auto 1rem; padding: .25rem 1rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--card); }
@media (max-width: 40em) {
  body { padding: 1rem .5rem 2rem; }
  main { padding: 1.75rem 1rem 1rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, td { display: block; overflow-wrap: anywhere; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { padding: .125rem 0; border: 0; }
  td:empty { display: none; }
  td[data-name]::before { content: attr(data-name) ': '; font-weight: 600; color: var(--muted); }
}
@media (min-width: 60em) {
  body { display: grid; grid-template-columns: 15rem minmax(0, 56rem); column-gap: 2rem; justify-content: center; align-items: start; padding-top: 2rem; }
  details.pages { display: none; }
  nav.pages { display: block; position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; padding: 0 .25rem 1rem; }
  nav.pages h2:first-child { margin-top: 0; }
}
@media (min-width: 60em) and (pointer: fine) { .pages a, .contents a { min-height: 2rem; } }
@media (min-height: 40rem) and (min-width: 30rem) { body { padding-top: 2rem; } }
`
