//! Chromium, driven through its DevTools protocol over two pipes: no port, no other program.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A page in a browser of its own.
pub struct Browser {
    process: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    calls: u64,
    /// What went wrong in the page: errors, exceptions, warnings of the browser.
    pub complaints: Vec<String>,
    /// Every address that was asked for.
    pub requests: Vec<String>,
    loaded: bool,
    _folder: tempfile::TempDir,
}

/// Chromium's name here, if it is installed.
fn chromium() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.into_iter().find(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    })
}

impl Browser {
    /// Starts it with an empty page, where it is installed.
    pub fn start() -> Option<Browser> {
        let Some(chromium) = chromium() else {
            println!("skipped: Chromium is not installed (apt install chromium)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
        let made = Command::new("mkfifo")
            .args([path("in"), path("out")])
            .status();
        assert!(made.unwrap().success());
        // The browser reads from 3 and writes to 4.
        let line = format!(
            "exec {chromium} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
             --hide-scrollbars --window-size=1400,1200 --user-data-dir={} --remote-debugging-pipe about:blank 3<{} 4>{}",
            path("profile"),
            path("in"),
            path("out")
        );
        let process = Command::new("sh")
            .args(["-c", &line])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = OpenOptions::new().write(true).open(path("in")).unwrap();
        let from = BufReader::new(File::open(path("out")).unwrap());
        let mut browser = Browser {
            process,
            to,
            from,
            session: None,
            calls: 0,
            complaints: Vec::new(),
            requests: Vec::new(),
            loaded: false,
            _folder: folder,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", target);
        browser.session = attached["sessionId"].as_str().map(str::to_string);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Opens a file, and waits until it has loaded.
    pub fn open(&mut self, file: &Path) {
        self.loaded = false;
        let url = format!("file://{}", file.to_str().unwrap());
        self.call("Page.navigate", json!({"url": url}));
        while !self.loaded {
            let message = self.receive();
            self.note(&message);
        }
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", asked);
        let failure = &answer["exceptionDetails"];
        assert!(failure.is_null(), "{expression}: {failure}");
        answer["result"]["value"].clone()
    }

    /// The same as text.
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value
            .as_str()
            .unwrap_or_else(|| panic!("{expression} is {value}"))
            .to_string()
    }

    /// Presses a key: `ArrowRight`, `t`.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let typed = if kind == "keyDown" { text } else { "" };
            // Only with its number does the key move to the next element.
            let number = if key == "Tab" { 9 } else { 0 };
            let event =
                json!({"type": kind, "key": key, "text": typed, "windowsVirtualKeyCode": number});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Takes a picture of what is in view.
    pub fn screenshot(&mut self, file: &Path) {
        let taken = self.call("Page.captureScreenshot", json!({"format": "png"}));
        std::fs::write(file, base64(taken["data"].as_str().unwrap())).unwrap();
    }

    /// Prints the page; gives the bytes of the document.
    pub fn print(&mut self) -> Vec<u8> {
        let printed = self.call("Page.printToPDF", json!({"printBackground": true}));
        base64(printed["data"].as_str().unwrap())
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert!(bytes.pop().is_some(), "the browser has ended");
        serde_json::from_slice(&bytes).unwrap()
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Page.loadEventFired" => self.loaded = true,
            "Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled" => {
                self.complaints.push(parameters.to_string());
            }
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(url.to_string());
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte: u8| DIGITS.iter().position(|known| *known == byte).unwrap() as u32;
    let mut bytes = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let value = four.iter().fold(0, |value, &byte| value << 6 | digit(byte));
        let value = value << (6 * (4 - four.len()));
        bytes.extend_from_slice(&value.to_be_bytes()[1..four.len()]);
    }
    bytes
}
