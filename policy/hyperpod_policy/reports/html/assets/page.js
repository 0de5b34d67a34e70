"use strict";
(() => {
  const root = document.documentElement;
  const names = ["severity", "outcome", "state", "group"];

  // Storage is refused in sandboxed frames, in which build servers show reports.
  const stored = {
    get() { try { return localStorage.getItem("hyperpod-review-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("hyperpod-review-theme", value); } catch { /* not kept */ } },
  };

  const theme = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const showTheme = () => { theme.textContent = isDark() ? "Light mode" : "Dark mode"; };
  if (["light", "dark"].includes(stored.get())) root.dataset.theme = stored.get();
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    stored.set(root.dataset.theme);
    showTheme();
  });
  dark.addEventListener("change", showTheme);
  theme.hidden = false;
  showTheme();

  const open = (element) => {
    for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      if (details.id !== "kept-box") { details.open = true; opened.push(details); }
    }
  });
  addEventListener("afterprint", () => { for (const details of opened.splice(0)) details.open = false; });

  const form = document.getElementById("filters");
  const list = document.getElementById("list");
  const isFilter = (hash) => hash.includes("=");
  const goTo = () => {
    if (!location.hash || isFilter(location.hash)) return;
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    open(target);
    if (target.hidden && form) { form.reset(); }
    target.scrollIntoView();
  };
  if (!form) { addEventListener("hashchange", goTo); goTo(); return; }

  const findings = [...list.querySelectorAll(".finding")];
  const promises = [...list.querySelectorAll(".promise")];
  const homes = new Map(findings.map((finding) => [finding, finding.parentElement]));
  const promiseOf = new Map(findings.map((finding) => [finding, finding.closest(".promise")]));
  const words = new Map(findings.map((finding) => [
    finding,
    `${promiseOf.get(finding).querySelector(".promise-head").textContent} ${finding.textContent}`.toLowerCase(),
  ]));
  const kept = [...document.querySelectorAll(".kept > li")].map((item) => [item, item.textContent.toLowerCase()]);
  const count = document.getElementById("count");
  const nothing = document.getElementById("nothing");
  let sections = promises;
  let grouping = "rule";

  const chosen = () => {
    const data = new FormData(form);
    const found = { text: (data.get("text") || "").trim().toLowerCase(), by: data.get("by") || "rule" };
    for (const name of names) found[name] = data.getAll(name);
    return found;
  };

  const regroup = (by) => {
    if (by === grouping) return;
    grouping = by;
    list.replaceChildren();  // moving thousands of findings while they are shown takes seconds
    list.className = `by-${by}`;
    if (by === "rule") {
      for (const finding of findings) homes.get(finding).append(finding);
      sections = promises;
    } else {
      const groups = new Map();
      for (const finding of findings) {
        const key = finding.dataset.resource;
        if (!groups.has(key)) groups.set(key, resourceSection(finding, groups.size));
        explain(finding);
        groups.get(key).querySelector(".items").append(finding);
      }
      sections = [...groups.values()];
    }
    for (const finding of findings) {
      const own = finding.querySelector(".explanation");
      if (own) own.hidden = by === "rule";
    }
    list.replaceChildren(...sections);
  };

  const resourceSection = (finding, number) => {
    const section = document.createElement("section");
    section.className = "promise";
    const heading = document.createElement("h3");
    heading.id = `resource-${number}`;
    heading.append(...[...finding.querySelector(".of-rule").childNodes].map((node) => node.cloneNode(true)));
    const file = document.createElement("p");
    file.className = "quiet";
    const name = document.createElement("code");
    const at = finding.dataset.resource;
    name.textContent = at.slice(0, at.lastIndexOf("#"));
    file.append(name);
    const items = document.createElement("div");
    items.className = "items";
    section.setAttribute("aria-labelledby", heading.id);
    section.append(heading, file, items);
    return section;
  };

  const explain = (finding) => {
    if (finding.querySelector(".explanation")) return;
    const explanation = promiseOf.get(finding).querySelector(".explanation").cloneNode(true);
    finding.append(explanation);
  };

  const apply = () => {
    const wanted = chosen();
    regroup(wanted.by);
    let shown = 0;
    for (const finding of findings) {
      const fits = names.every((name) => !wanted[name].length || wanted[name].includes(finding.dataset[name]))
        && words.get(finding).includes(wanted.text);
      finding.hidden = !fits;
      shown += fits;
    }
    for (const section of sections) section.hidden = !section.querySelector(".finding:not([hidden])");
    for (const [item, text] of kept) {
      const fits = ["severity", "group"].every((name) => !wanted[name].length || wanted[name].includes(item.dataset[name]));
      item.hidden = !(fits && text.includes(wanted.text));
    }
    nothing.hidden = shown > 0;
    const total = `${findings.length} finding${findings.length === 1 ? "" : "s"}`;
    const said = shown === findings.length ? `All ${total}` : `${shown} of ${total}`;
    if (count.textContent !== said) count.textContent = said;
  };

  const write = () => {
    const said = new URLSearchParams();
    const wanted = chosen();
    if (wanted.text) said.set("text", wanted.text);
    for (const name of names) if (wanted[name].length) said.set(name, wanted[name].join(","));
    if (wanted.by !== "rule") said.set("by", wanted.by);
    const hash = said.toString().replaceAll("%2C", ",");
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  };

  const read = () => {
    if (!isFilter(location.hash)) return;
    const said = new URLSearchParams(location.hash.slice(1));
    for (const input of form.elements) {
      const value = said.get(input.name);
      if (input.type === "checkbox") input.checked = (value || "").split(",").includes(input.value);
      else if (input.type === "radio") input.checked = input.value === (value || "rule");
      else if (input.type === "search") input.value = value || "";
    }
    apply();
  };

  for (const item of document.querySelectorAll("[data-filter]")) {
    const link = document.createElement("a");
    link.href = `#${item.dataset.filter}`;
    link.append(...item.childNodes);
    link.addEventListener("click", () => document.getElementById("findings").scrollIntoView());
    item.append(link);
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { apply(); write(); });
  form.addEventListener("reset", () => setTimeout(() => { apply(); write(); }));
  addEventListener("hashchange", () => { read(); goTo(); });
  if (matchMedia("(max-width: 61.99rem)").matches) document.getElementById("filters-box").open = false;
  form.hidden = false;
  count.hidden = false;
  read();
  apply();
  goTo();
})();
