/**
 * The style sheet of the hosted pages. It is part of each page, so that pages load nothing and the policy can
 * name it by its hash. Text has a contrast of at least 7:1 in both colour schemes, buttons and links are 44
 * pixels high, and the pages fit into a width of 320 pixels.
 */
import { tokenRules } from './tokens.ts'

/** The sheet with `addition` and the values of its tokens. */
export function makeSheet(addition: string): string {
  const sheet = STYLE + addition
  return tokenRules(sheet) + sheet
}

const STYLE = `* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  padding: var(--s6) var(--s4) var(--s7);
  background: var(--ground);
  color: var(--text);
  font: var(--t-l)/1.55 var(--font);
  overflow-wrap: anywhere;
}
header, main { max-width: 28rem; margin: 0 auto; }
header p { display: flex; align-items: center; justify-content: center; gap: var(--s2); margin: 0 0 var(--s4); font-weight: 650; text-align: center; }
.mark { width: 1.5rem; height: 1.5rem; flex: none; }
.mark .box { fill: var(--brand); }
.mark .slot, .mark .plate { fill: var(--surface); }
.mark .plate { opacity: .45; }
.mark .base { fill: var(--text); }
main {
  padding: var(--s6) var(--s6) var(--s5);
  background: var(--surface);
  border: 1px solid var(--line);
  border-radius: var(--radius-l);
}
@media (min-height: 40rem) and (min-width: 30rem) { body { padding-top: 12vh; } }
@media (max-width: 24rem) { main { padding: var(--s5) var(--s4) var(--s4); } }
.sign {
  display: grid;
  place-items: center;
  width: 3rem;
  height: 3rem;
  margin: 0 0 var(--s4);
  border-radius: 50%;
  background: var(--tint);
  color: var(--accent);
}
.sign.done { background: var(--good-tint); color: var(--good); }
.sign svg { width: 1.5rem; height: 1.5rem; }
h1 { margin: 0 0 var(--s2); font-size: var(--t-xl); font-weight: 650; line-height: 1.2; letter-spacing: -.015em; text-wrap: balance; }
h2 { margin: 0 0 var(--s1); font-size: var(--t-l); font-weight: 650; line-height: 1.4; }
p { margin: 0 0 var(--s4); }
strong { font-weight: 600; }
code { font: .92em var(--mono); }
pre { margin: 0 0 var(--s4); padding: var(--s3) var(--s4); border: 1px solid var(--line); border-radius: var(--radius); background: var(--sunken); white-space: pre-wrap; }
.muted { color: var(--muted); }
.note { padding: var(--s3) var(--s4); border-radius: var(--radius); background: var(--tint); }
.note[role=alert] { margin-bottom: var(--s5); }
.choice { margin: var(--s5) 0 var(--s4); padding-top: var(--s5); border-top: 1px solid var(--line); }
.choice form { margin: var(--s4) 0 0; }
.state { display: flex; align-items: center; gap: var(--s2); margin: 0; color: var(--muted); }
.state::before { content: ''; flex: none; width: .625rem; height: .625rem; border: 2px solid; border-radius: 50%; }
.state.on { color: var(--good); }
.state.on::before { background: currentcolor; }
form { margin: var(--s5) 0 var(--s4); }
label { display: block; margin: 0 0 var(--s1); font-weight: 600; }
input:not([type=hidden]) {
  width: 100%;
  min-height: 2.75rem;
  padding: var(--s2) var(--s3);
  border: 1px solid var(--line-strong);
  margin: 0 0 var(--s4);
  border-radius: var(--radius);
  background: var(--raised);
  color: var(--text);
  font: inherit;
}
input[aria-invalid=true] { border-color: var(--bad); }
.fault { font-weight: 600; color: var(--bad); }
input + p { margin-top: calc(var(--s2) * -1); }
button, a.button {
  display: flex;
  align-items: center;
  justify-content: center;
  width: 100%;
  min-height: 2.75rem;
  padding: var(--s2) var(--s4);
  border: 1px solid var(--accent);
  border-radius: var(--radius);
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
button:hover, a.button:hover { background: var(--accent-strong); }
button.quiet { border-color: var(--line-strong); background: var(--surface); color: var(--text); }
button.quiet:hover { background: var(--sunken); }
nav { margin: var(--s5) 0 0; border-top: 1px solid var(--line); }
nav ul { display: flex; flex-wrap: wrap; column-gap: var(--s5); margin: var(--s2) 0 0; padding: 0; list-style: none; }
a { color: var(--accent); text-underline-offset: .2em; }
nav a { display: inline-flex; align-items: center; min-height: 2.75rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: var(--radius); }
`
